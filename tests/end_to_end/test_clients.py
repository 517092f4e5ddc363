"""Real, unmodified clients, where they are installed (`make test-agents` installs them).

Each is driven by a scripted model: through the safety gate, and through a whole task.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from sandbox.agents.clients import preset_files
from sandbox.agents.clients.installation import Installation, locate, place
from sandbox.agents.clients.preset import Preset
from sandbox.agents.playback.replay import Shell, replay
from sandbox.agents.playback.script import Fault, Script
from sandbox.agents.playback.server import ModelServer
from sandbox.agents.playback.turn import INPUT_TOKENS, OUTPUT_TOKENS
from sandbox.container.engines.base import Engine
from sandbox.model import places
from sandbox.model.client import GateReport
from sandbox.model.task import ScriptedAction
from sandbox.model.usage import ModelUsage
from sandbox.run.run_containers import begin
from sandbox.run.safety.gate import Gate
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage
from tests.end_to_end import commands
from tests.end_to_end.commands import HUMANIZE, Ended, recorded, sandbox
from tests.end_to_end.project import Project

run = partial(commands.run, task=HUMANIZE)
pytestmark = [pytest.mark.engine, pytest.mark.clients, pytest.mark.whole]

NAMES = preset_files.names()
BY_ACTIONS = [name for name in NAMES if name != "codex-remote"]
"""Those that do each action by its name; the other is in `test_codex_remote.py`."""
ORACLE = library.load(HUMANIZE).task.oracle
RETRIES = ("claude-code", "codex", "opencode")
"""Clients whose answer to failures of the model server is tried: the three that are quickest."""


@pytest.fixture
def preset(request: pytest.FixtureRequest) -> Preset:
    """A preset whose client is here."""
    found = preset_files.find(request.param)
    # One on the PATH may be of any version.
    if place(found, places.cache()).exists():
        return found
    message = f"{found.title} is not installed: make agents"
    if os.environ.get("SANDBOX_TEST_AGENTS"):
        pytest.fail(message)
    pytest.skip(message)


def installed(preset: Preset) -> Installation:
    return locate(preset, places.cache())


def every(names: tuple[str, ...] | list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("preset", names, indirect=True)


def shell(preset: Preset) -> Shell | None:
    through = preset.through
    return Shell(through.tool, through.argument, through.commands_only) if through else None


@contextmanager
def gate(preset: Preset, engine: Engine, image: BuiltImage) -> Iterator[Gate]:
    loaded = library.load(HUMANIZE)
    with begin(engine, loaded, image, "gate") as session:
        yield Gate(preset, installed(preset), session, loaded.worktree)


def act(
    preset: Preset, script: Script, runs: Path, **environment: str
) -> tuple[Ended, ModelServer]:
    """Run the task with a client whose model follows a script."""
    endpoint = preset.endpoint
    home = runs.with_name("home")
    home.mkdir(exist_ok=True)
    elsewhere = {"HOME": str(home), "SANDBOX_CACHE": str(places.cache()), **environment}
    with ModelServer(script) as models:
        ended = run(
            preset.name,
            runs,
            "--model",
            endpoint.scripted_model,
            "--base-url",
            models.url + endpoint.path,
            **{endpoint.key_variable: "scripted", **elsewhere},
        )
    assert list(home.iterdir()) == [], "a client used the home of whoever started it"
    return ended, models


@every(NAMES)
def test_a_client_passes_the_gate(preset: Preset, engine: Engine, image: BuiltImage) -> None:
    with gate(preset, engine, image) as checked:
        report = checked.check()
    assert [check for check in report.checks if not check.passed] == []
    assert len(report.checks) == 6
    assert report.version == preset.package.version


@every(BY_ACTIONS)
def test_a_client_solves_a_task(preset: Preset, runs: Path, engine: Engine) -> None:
    ended, models = act(preset, replay(ORACLE, shell(preset)), runs)
    assert ended.code == 0, ended.out + ended.err
    # A client that also reads its standard input would be told twice.
    assert models.seen.first.count(b"Our quota report shows freed space") == 1
    stored = recorded(runs, engine)
    assert stored.record.agent == preset.name
    assert stored.record.client is not None
    assert stored.record.client.version == preset.package.version
    assert [seen.status for seen in stored.observations] == ["ok"] * len(ORACLE)
    assert stored.ended.reason == "final_answer"
    turns = len(models.seen.requests)
    used = ModelUsage(input_tokens=turns * INPUT_TOKENS, output_tokens=turns * OUTPUT_TOKENS)
    assert stored.ended.usage is not None
    assert stored.ended.usage.model_copy(update={"cost": None}) == used


LOOK = ScriptedAction(action="list_files", arguments={})


@pytest.mark.parametrize(
    ("preset", "how"),
    [("claude-code", 429), ("claude-code", "cut"), *((name, 500) for name in RETRIES)],
    indirect=["preset"],
)
def test_a_model_server_that_fails_once_is_asked_again(
    preset: Preset, how: int, runs: Path, engine: Engine, quick: Project
) -> None:
    script = (Fault(how=how), *replay([LOOK], shell(preset)))
    ended, models = act(preset, script, runs, **quick.environment)
    assert ended.code == 1
    stored = recorded(runs, engine)
    assert [seen.status for seen in stored.observations] == ["ok"]
    assert stored.ended.reason == "agent_exited"
    assert len(models.seen.requests) >= 3


@every(RETRIES[:1])
@pytest.mark.parametrize("how", [400, "cut", "garbage", "hang"])
def test_a_model_server_that_fails_for_good(
    how: int, preset: Preset, runs: Path, engine: Engine, tmp_path: Path, project: Project
) -> None:
    project.limit(silence=10)
    ended, _ = act(preset, (Fault(how=how, times=None),), runs, **project.environment)
    assert ended.code == 1, ended.err
    stored = recorded(runs, engine)
    assert stored.record.verdict == "failed"
    assert stored.ended.reason in ("agent_exited", "agent_silent")


# The gate sees what it is there for


@every(["claude-code"])
def test_built_in_tools_that_are_back_are_seen(
    preset: Preset, engine: Engine, image: BuiltImage
) -> None:
    place = preset.arguments.index("--tools")
    arguments = (*preset.arguments[:place], *preset.arguments[place + 2 :])
    # Whoever forgot the one is likely to have allowed everything, too.
    spoilt = preset.model_copy(
        update={"arguments": (*arguments, "--allowedTools", "Bash", "Write", "mcp__sandbox")}
    )
    with gate(spoilt, engine, image) as checked:
        report = checked.check()
    failed = {check.name: check.message for check in report.checks if not check.passed}
    assert {"tools", "built_in"} <= set(failed)
    assert "Bash" in failed["tools"]
    assert "Bash" in failed["built_in"]


@pytest.mark.parametrize(
    ("preset", "model"),
    [("claude-code", "claude-opus-4-1"), ("codex", "gpt-6-sol")],
    indirect=["preset"],
)
def test_another_model_brings_no_other_tools(
    preset: Preset, model: str, engine: Engine, image: BuiltImage
) -> None:
    with gate(preset, engine, image) as checked:
        checked.model = model
        report = checked.check()
    assert report.model == model
    assert [check for check in report.checks if not check.passed] == []


@every(["claude-code"])
def test_a_server_that_is_missing_is_seen(
    preset: Preset, engine: Engine, image: BuiltImage
) -> None:
    spoilt = preset.model_copy(update={"files": {"${home}/mcp.json": '{"mcpServers": {}}'}})
    with gate(spoilt, engine, image) as checked:
        report = checked.check()
    failed = {check.name for check in report.checks if not check.passed}
    assert {"works", "tools", "denied", "cancelled"} <= failed


@every(["claude-code"])
def test_the_command_line_checks_lists_and_warns(
    preset: Preset, runs: Path, engine: Engine, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    for entry in places.cache().iterdir():
        if entry.name != "clients":
            (cache / entry.name).symlink_to(entry)
    (cache / "clients").mkdir()
    for entry in (places.cache() / "clients").iterdir():
        if entry.name != "checks":
            (cache / "clients" / entry.name).symlink_to(entry)
    elsewhere = {"SANDBOX_CACHE": str(cache)}
    before, _ = act(preset, replay([LOOK]), runs, **elsewhere)
    assert "never passed the safety gate" in before.out
    shown = sandbox("show", "last", "--runs", runs).out
    assert f"client: {preset.name} {preset.package.version}; safety gate never" in shown
    assert "never passed the safety gate" in shown
    assert recorded(runs, engine).record.client
    checked = sandbox("agents", "check", preset.name, "--json", **elsewhere)
    assert checked.code == 0, checked.err
    assert GateReport.model_validate_json(checked.out).passed
    listed = json.loads(sandbox("agents", "list", "--json", **elsewhere).out)
    assert {row["preset"]: row["gate"] for row in listed}[preset.name] == "passed"
    after, _ = act(preset, replay([LOOK]), runs, **elsewhere)
    assert "warning" not in after.out
    assert sandbox("agents", "check", "no-such").code == 2
