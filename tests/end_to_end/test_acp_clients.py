"""Real, unmodified agents over ACP, where they are installed (`make test-agents` installs them)."""

import json
import os
import shlex
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from pydantic import JsonValue

from sandbox.agents.clients import preset_files
from sandbox.agents.clients.installation import locate
from sandbox.agents.playback.replay import replay
from sandbox.agents.playback.script import Call
from sandbox.agents.playback.server import ModelServer
from sandbox.container.engines.base import Engine
from sandbox.model import places
from sandbox.model.errors import ClientError
from sandbox.model.event import Claimed
from sandbox.tasks import library
from tests.end_to_end import commands
from tests.end_to_end.commands import HUMANIZE, recorded

run = partial(commands.run, task=HUMANIZE)
pytestmark = [pytest.mark.engine, pytest.mark.clients, pytest.mark.whole]


@dataclass(frozen=True)
class AcpClient:
    """An agent, with its own tools switched off by its configuration."""

    name: str
    shell: str
    """Its own shell, which the model calls all the same."""
    environment: dict[str, str]
    files: dict[str, str]
    """Below its home; MODELS is the model server's."""


OPENCODE = AcpClient(
    "opencode",
    "bash",
    {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
    {
        ".config/opencode/opencode.json": json.dumps(
            {
                "model": "chosen/scripted",
                "small_model": "chosen/scripted",
                "autoupdate": False,
                "share": "disabled",
                "permission": {"*": "deny", "sandbox_*": "ask"},
                "provider": {
                    "chosen": {
                        "npm": "@ai-sdk/openai-compatible",
                        "name": "chosen",
                        "options": {"baseURL": "MODELS/v1", "apiKey": "scripted"},
                        "models": {"scripted": {"limit": {"context": 200000, "output": 8000}}},
                    }
                },
            }
        )
    },
)
KIMI = AcpClient(
    "kimi",
    "Bash",
    {"KIMI_CODE_HOME": "HOME/.kimi-code"},
    {
        ".kimi-code/config.toml": """
default_model = "chosen"
telemetry = false
[providers.chosen]
type = "openai"
base_url = "MODELS/v1"
api_key = "scripted"
[models.chosen]
provider = "chosen"
model = "scripted"
max_context_size = 200000
[tools]
enabled = ["mcp__sandbox__*"]
"""
    },
)


def command(client: AcpClient, home: Path, url: str) -> str:
    """Configure a client and return its command line; skips where it is not installed."""
    try:
        found = locate(preset_files.find(client.name), places.cache())
    except ClientError as error:
        if os.environ.get("SANDBOX_TEST_AGENTS"):
            raise
        pytest.skip(error.message)
    for name, text in client.files.items():
        file = home / name
        file.parent.mkdir(parents=True)
        file.write_text(text.replace("MODELS", url))
    settings = {"HOME": str(home), "PATH": found.path, **client.environment}
    words = [f"{name}={text.replace('HOME', str(home))}" for name, text in settings.items()]
    return shlex.join(["env", *words, str(found.program), "acp"])


@pytest.mark.parametrize("client", [OPENCODE, KIMI], ids=lambda client: client.name)
def test_an_agent_solves_a_task_and_leaves_the_host_alone(
    client: AcpClient, runs: Path, engine: Engine, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    escape: dict[str, JsonValue] = {"command": f"echo escaped > {canary}", "description": "x"}
    oracle = library.load(HUMANIZE).task.oracle
    script = (Call(tool=client.shell, arguments=escape), *replay(oracle))
    with ModelServer(script) as models:
        agent = command(client, tmp_path / "home", models.url)
        ended = run(agent, runs, "--protocol", "acp")
    assert ended.code == 0, ended.out + ended.err
    assert not canary.exists()
    stored = recorded(runs, engine)
    claimed = [entry.event for entry in stored.entries if isinstance(entry.event, Claimed)]
    asked = [event.text for event in claimed if event.about == "permission"]
    assert len(asked) == len(oracle)
    assert all(text.startswith("left to the tool: ") for text in asked)
    assert any(event.about == "message" for event in claimed)
