"""Claude Code as it is, in the container, with its own tools, where it is installed."""

import json
import os
from functools import partial
from pathlib import Path

import pytest

from sandbox.agents.clients import preset_files
from sandbox.agents.clients.installation import locate, place
from sandbox.agents.playback.script import Call, Say, Step
from sandbox.agents.playback.server import ModelServer
from sandbox.container.engines.base import Engine
from sandbox.model import places
from sandbox.model.event import Executed, ModelRequested
from sandbox.tasks import library
from tests.end_to_end import commands
from tests.end_to_end.commands import HUMANIZE, recorded

run = partial(commands.run, task=HUMANIZE)
pytestmark = [pytest.mark.engine, pytest.mark.clients, pytest.mark.whole]

KEY = "sk-the-real-key-0123456789"


@pytest.fixture
def program() -> Path:
    """Its program, which needs nothing else."""
    preset = preset_files.find("claude-code")
    if place(preset, places.cache()).exists():
        return Path(locate(preset, places.cache()).program)
    message = "Claude Code is not installed: make agents"
    if os.environ.get("SANDBOX_TEST_AGENTS"):
        pytest.fail(message)
    pytest.skip(message)


def test_claude_code_acts_inside(program: Path, runs: Path, engine: Engine) -> None:
    answer = json.dumps(
        {name: each.expect for name, each in library.load(HUMANIZE).task.final.items()}
    )
    lines = ("git push origin main; git status --short", f"echo '{answer}' > $SANDBOX_ANSWER")
    steps: list[Step] = [
        Call(tool="Bash", arguments={"command": each, "description": "step"}) for each in lines
    ]
    with ModelServer((*steps, Say(text="Done."))) as models:
        run(
            "env CLAUDE_CONFIG_DIR=/.sandbox/own claude --print {prompt}"
            " --model claude-sonnet-4-5 --dangerously-skip-permissions",
            runs,
            *("--inside", "--inside-files", str(program.parent)),
            *("--model-url", models.url, "--model-key-variable", "A_MODELS_KEY"),
            A_MODELS_KEY=KEY,
            NO_PROXY="127.0.0.1",
        )
    stored = recorded(runs, engine)
    verdicts = {grade.grader: grade.verdict for grade in stored.grade.grades}
    assert verdicts["integrity"] == verdicts["final"] == "passed"
    assert stored.observations[0].result["stdout"] == "Done.\n"
    events = [entry.event for entry in stored.entries]
    executed = [event for event in events if isinstance(event, Executed)]
    pushes = {event.verdict for event in executed if event.argv[:2] == ("git", "push")}
    assert pushes == {"denied"}
    assert ("git", "status", "--short") in [event.argv for event in executed]
    asked = [event for event in events if isinstance(event, ModelRequested)]
    assert [each.status for each in asked if each.path == "/v1/messages"] == [200] * 3
    changed = json.loads(stored.folder.changes.read_text())
    assert "/home/agent/.claude" not in json.dumps(changed)
    for file in stored.folder.path.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()
