"""Codex with its own shell and patches, which act in the container, where Codex is installed."""

import os
from pathlib import Path

import pytest

from sandbox.agents.clients import preset_files
from sandbox.agents.clients.installation import place
from sandbox.agents.clients.preset import Preset
from sandbox.agents.playback.replay import DONE
from sandbox.agents.playback.script import Call, Script
from sandbox.agents.playback.server import ModelServer
from sandbox.container.engines.base import Engine
from sandbox.model import places
from sandbox.model.event import ActionTaken
from sandbox.tasks.images import BuiltImage
from tests.end_to_end.codex_calls import patch, replayed, shell
from tests.end_to_end.commands import Recorded, recorded
from tests.end_to_end.project import Project
from tests.end_to_end.test_clients import ORACLE, act, gate

pytestmark = [pytest.mark.engine, pytest.mark.clients, pytest.mark.whole]

ANSWER = Call(action="final_answer", arguments={"fields": {}})


@pytest.fixture
def codex() -> Preset:
    found = preset_files.find("codex-remote")
    if not place(found, places.cache()).exists():
        message = f"{found.title} is not installed: make agents"
        if os.environ.get("SANDBOX_TEST_AGENTS"):
            pytest.fail(message)
        pytest.skip(message)
    return found


def actions(stored: Recorded) -> list[str]:
    return [each.event.name for each in stored.entries if isinstance(each.event, ActionTaken)]


def tell(codex: Preset, script: Script, runs: Path, quick: Project) -> ModelServer:
    """Play a script in a quick task."""
    _, models = act(codex, (*script, DONE), runs, **quick.environment)
    return models


def test_codex_solves_a_task_with_its_own_tools(codex: Preset, runs: Path, engine: Engine) -> None:
    ended, models = act(codex, replayed(ORACLE), runs)
    assert ended.code == 0, ended.out + ended.err
    stored = recorded(runs, engine)
    assert stored.record.verdict == "passed"
    assert stored.ended.reason == "final_answer"
    done = actions(stored)
    # It reads the repository's instructions by itself, and a patch is a file that is written.
    assert done[: done.index("run_command")].count("read_file") == 1
    assert done.count("write_file") == 3
    assert done.count("run_tests") == 3
    assert b"A change in behaviour needs two companions" in models.seen.first


def test_what_it_is_told_of_commands_and_patches(
    codex: Preset, runs: Path, engine: Engine, quick: Project, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    script = (
        shell("echo one; echo two >&2; exit 3"),
        patch([f"*** Add File: {outside}", "+escaped"]),
        patch(["*** Delete File: README.md"]),
        Call(tool="exec_command", arguments={"cmd": "cat", "tty": True}),
        ANSWER,
    )
    models = tell(codex, script, runs, quick)
    told = models.seen.requests[-1].told
    assert "exited with code 3" in told[0]
    assert "one" in told[0]
    assert "two" in told[0]
    assert "Failed to write file" in told[1]
    assert not outside.exists()
    assert "D README.md" in told[2]
    assert "no terminal" in told[3]
    stored = recorded(runs, engine)
    assert actions(stored)[-1] == "final_answer"


def test_a_session_that_is_left_is_ended_with_the_turn(
    codex: Preset, runs: Path, engine: Engine, quick: Project
) -> None:
    waits = Call(tool="exec_command", arguments={"cmd": "exec sleep 1000", "yield_time_ms": 300})
    tell(codex, (waits,), runs, quick)
    stored = recorded(runs, engine)
    assert [each.error_code for each in stored.observations][-1] == "cancelled"
    assert stored.ended.killed_processes == 0


def test_the_gate_sees_commands_that_stay_on_this_host(
    codex: Preset, engine: Engine, image: BuiltImage
) -> None:
    files = {
        name: text for name, text in codex.files.items() if not name.endswith("environments.toml")
    }
    with gate(codex.model_copy(update={"files": files}), engine, image) as checked:
        report = checked.check()
    failed = {check.name: check.message for check in report.checks if not check.passed}
    assert {"works", "built_in", "denied", "cancelled"} <= set(failed)
    assert "exec_command" in failed["built_in"]
    assert "apply_patch" in failed["built_in"]
