"""A client that somebody describes in a file of their own, and a command without any file."""

import json
import shlex
import sys
from pathlib import Path

import pytest
import yaml

from sandbox.agents.clients import preset_files
from sandbox.agents.playback.replay import replay
from sandbox.agents.playback.server import ModelServer
from sandbox.container.engines.base import Engine
from sandbox.tasks import library
from tests import ROOT
from tests.end_to_end.commands import TASK, recorded, sandbox

pytestmark = pytest.mark.engine

CLIENT = ("-m", "tests.sandbox.run.safety.toy_client", "none")


def preset(folder: Path, **changes: object) -> Path:
    """A preset of a client that comes from no registry, in a file."""
    content = {
        "name": "toy",
        "title": "Toy",
        "package": {"registry": "none", "name": "toy", "version": "1.0", "program": sys.executable},
        "version": {"command": ["echo", "1.0.1"]},
        "endpoint": {
            "interface": "chat",
            "path": "/v1",
            "url": "https://example.invalid",
            "url_variable": "TOY_URL",
            "key_variable": "TOY_KEY",
            "model": "m",
        },
        "arguments": [*CLIENT, "${base_url}", "${url}", "${token}"],
        "environment": {"PYTHONPATH": str(ROOT)},
        "tools": "sandbox_${action}",
        "built_in": [{"tool": "shell", "arguments": {"command": "echo escaped > ${canary}"}}],
    }
    file = folder / "toy.yaml"
    file.write_text(yaml.safe_dump(content | changes))
    return file


def command(fault: str) -> str:
    """The same client as a command line, which finds all by its environment."""
    program = shlex.join([sys.executable, *CLIENT[:2], fault])
    line = f'exec {program} "$OPENAI_BASE_URL" "$SANDBOX_MCP_URL" "$SANDBOX_MCP_TOKEN"'
    return shlex.join(["env", f"PYTHONPATH={ROOT}", "sh", "-c", line])


@pytest.mark.slow
def test_one_passes_the_gate_and_then_a_task(tmp_path: Path, runs: Path, engine: Engine) -> None:
    file = preset(tmp_path)
    checked = sandbox("agents", "check", file, "--json")
    assert checked.code == 0, checked
    assert json.loads(checked.out)["preset"] == "toy"
    oracle = library.load(TASK).task.oracle
    with ModelServer(replay(oracle)) as models:
        where = ("--base-url", f"{models.url}/v1", "--runs", runs)
        ended = sandbox("run", TASK, "--preset", file, *where, TOY_KEY="k")
    assert ended.code == 0, ended
    record = recorded(runs, engine).record
    assert (record.agent, record.actor.command) == ("toy", f"preset:{file}")
    assert record.client is not None
    assert (record.client.preset, record.client.version) == ("toy", "1.0.1")
    assert len(record.actor.digest) == 64


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "failed"), [("none", []), ("shell", ["tools"]), ("early", ["ended"])]
)
def test_a_command_passes_the_gate_without_a_preset(fault: str, failed: list[str]) -> None:
    checked = sandbox("agents", "check", "--command", command(fault), "--json")
    report = json.loads(checked.out)
    assert [each["name"] for each in report["checks"] if not each["passed"]] == failed
    assert checked.code == (1 if failed else 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("agents", "check"), "Either a preset or a --command"),
        (("agents", "check", "qwen", "--command", "x"), "Either a preset or a --command"),
        (("agents", "check", "--command", "'"), "cannot be split"),
        (("agents", "check", "{file}"), "the name qwen is that of a preset that comes with"),
        (("agents", "check", "nowhere.yaml"), "nowhere.yaml"),
        (("agents", "install", "{gone}"), "comes from no registry"),
        (("agents", "check", "{gone}"), "there is no program /nonexistent/toy"),
        (("run", TASK), "Nobody is named who is to act"),
    ],
)
def test_what_cannot_be_is_told(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    for place in ("known", "gone"):
        (tmp_path / place).mkdir()
    package = {"registry": "none", "name": "t", "version": "1", "program": "/nonexistent/toy"}
    names = {
        "{file}": str(preset(tmp_path / "known", name="qwen")),
        "{gone}": str(preset(tmp_path / "gone", package=package)),
    }
    ended = sandbox(*(names.get(word, word) for word in words))
    assert ended.code in (2, 3), ended
    assert said in " ".join(ended.err.split())


def test_each_of_ours_is_found_by_its_name_alone() -> None:
    assert all(preset_files.named(name) for name in preset_files.names())
    assert not preset_files.named("own.yaml")
    assert preset_files.named("preset:own.yaml")
