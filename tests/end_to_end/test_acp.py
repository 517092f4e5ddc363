"""An agent that speaks ACP, on the whole task by the command line."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model.event import Claimed
from sandbox.tasks import library
from tests.end_to_end.commands import TASK, recorded, run
from tests.sandbox.agents.test_acp_agent import HEAD, OPEN

pytestmark = pytest.mark.engine

ORACLE = """
for action in json.loads((root / "oracle.json").read_text()):
    ask(f"sandbox_{action['action']}")
    assert answered() == "o1"
    found = client.call(action["action"], **action["arguments"])["structuredContent"]
    assert found["status"] == "ok", found
say("Done.")
done()
"""
BRIDGE = """
bridge = subprocess.Popen(
    [server["command"], *server["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
)
def request(number, method, **params):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    bridge.stdin.write(json.dumps(message).encode() + b"\\n"); bridge.stdin.flush()
    return json.loads(bridge.stdout.readline())["result"]
who = {"name": "test", "version": "1"}
request(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=who)
found = request(2, "tools/call", name="run_command", arguments={"command": "pwd"})
say(found["structuredContent"]["result"]["stdout"])
done()
"""


def command(folder: Path, source: str, **environment: str) -> str:
    program = folder / "agent.py"
    program.write_text(HEAD + OPEN + source)
    oracle = [each.model_dump(mode="json") for each in library.load(TASK).task.oracle]
    (folder / "oracle.json").write_text(json.dumps(oracle))
    here = Path(__file__).parent.parent.parent
    settings = [f"ROOT={folder}", f"PYTHONPATH={here}"]
    settings += [f"{name}={value}" for name, value in environment.items()]
    return shlex.join(["env", *settings, sys.executable, str(program)])


@pytest.mark.slow
def test_an_agent_solves_the_task(runs: Path, engine: Engine, tmp_path: Path) -> None:
    ended = run(command(tmp_path, ORACLE), runs, "--protocol", "acp")
    assert (ended.code, ended.err) == (0, "")
    stored = recorded(runs, engine)
    assert stored.folder.agent_log.read_text() == ""
    claimed = [entry.event for entry in stored.entries if isinstance(entry.event, Claimed)]
    assert claimed[-1] == Claimed(about="message", text="Done.")


@pytest.mark.slow
def test_one_without_http_starts_the_server_itself(
    runs: Path, engine: Engine, tmp_path: Path
) -> None:
    ended = run(command(tmp_path, BRIDGE, HTTP="0"), runs, "--protocol", "acp")
    assert (ended.code, ended.err) == (1, "")
    stored = recorded(runs, engine)
    assert stored.folder.agent_log.read_text() == ""
    claimed = [entry.event for entry in stored.entries if isinstance(entry.event, Claimed)]
    assert claimed == [Claimed(about="message", text="/home/agent/inflection\n")]
    assert stored.ended.reason == "agent_exited"
