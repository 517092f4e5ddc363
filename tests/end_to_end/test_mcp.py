"""Clients of the MCP server in real containers: those that are started, and those that come."""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model.observation import ErrorCode
from sandbox.model.store import Store
from sandbox.tasks import library
from tests.end_to_end.commands import SANDBOX, TASK, recorded, run, sandbox
from tests.end_to_end.project import Project
from tests.sandbox.agents.mcp_wire import HELLO

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parent.parent.parent

HEAD = """
import json, os, signal
from pathlib import Path
from tests.sandbox.agents.mcp_wire import HttpClient, SocketClient
def connect():
    client = HttpClient(os.environ["SANDBOX_MCP_URL"], os.environ["SANDBOX_MCP_TOKEN"])
    client.greet()
    return client
client = connect()
"""


def program(source: str) -> str:
    return shlex.join(["env", f"PYTHONPATH={ROOT}", sys.executable, "-c", HEAD + source])


@pytest.mark.slow
def test_a_client_solves_the_task(runs: Path, engine: Engine, tmp_path: Path) -> None:
    script = tmp_path / "actions.json"
    oracle = library.load(TASK).task.oracle
    script.write_text(f"[{','.join(each.model_dump_json() for each in oracle)}]")
    source = f"""
for step in json.load(open({str(script)!r})):
    told = client.call(step["action"], **step["arguments"])["structuredContent"]
    assert told["status"] == "ok", told
"""
    ended = run(program(source), runs, "--protocol", "mcp")
    assert (ended.code, ended.err) == (0, "")
    stored = recorded(runs, engine)
    assert stored.ended.reason == "final_answer"
    assert not stored.folder.mcp_socket.exists()


@pytest.mark.thorough
def test_a_client_that_dies_in_a_command_leaves_nothing(
    runs: Path, engine: Engine, quick: Project
) -> None:
    source = """
line = SocketClient(Path(os.environ["SANDBOX_MCP_SOCKET"]))
line.greet()
command = "(setsid sleep 600 &); exec sleep 600"
line.request("tools/call", {
    "name": "run_command", "arguments": {"command": command}, "_meta": {"progressToken": 1}
})
assert line.hear()["method"] == "notifications/progress"
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = run(program(source), runs, "--protocol", "mcp", **quick.environment)
    assert (ended.code, ended.err) == (1, "")
    stored = recorded(runs, engine)
    assert stored.ended.message == "The agent was ended by SIGKILL."
    assert [seen.error_code for seen in stored.observations] == [ErrorCode.CANCELLED]
    assert stored.ended.killed_processes == 0


@pytest.mark.slow
def test_a_client_may_start_its_own_server(runs: Path, engine: Engine, quick: Project) -> None:
    environment = {**os.environ, **quick.environment}
    going = subprocess.Popen(
        [SANDBOX, "run", TASK, "--agent", "mcp", "--runs", str(runs)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        while not any(folder.mcp_socket.exists() for folder in Store(runs).folders()):
            assert going.poll() is None
            time.sleep(0.05)
        server = _printed(going)
        told = _converse([server["command"], *server["args"]])
    finally:
        out, err = going.communicate(timeout=60)
    assert [message["id"] for message in told] == [1, 2, 3, 4]
    seen = [message["result"]["structuredContent"] for message in told[1:]]
    assert seen[0]["result"]["stdout"] == "inflection\n"
    assert [each["error_code"] for each in seen] == [None, "bad_arguments", None]
    assert (going.returncode, err) == (1, b"")
    assert b"verdict: failed" in out
    assert library.load(TASK).task.prompt.splitlines()[0] in told[0]["result"]["instructions"]
    assert recorded(runs, engine).ended.reason == "final_answer"
    assert sandbox("mcp", "last", "--runs", runs).code == 2


def _printed(going: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Read the configuration that a run prints while it waits for a client."""
    assert going.stderr
    said = b""
    while not said.endswith(b"\n}\n"):
        said += going.stderr.readline()
    whole: dict[str, Any] = json.loads(said[said.index(b"{") :])
    server: dict[str, Any] = whole["mcpServers"]["sandbox"]
    return server


def _converse(command: list[str]) -> list[dict[str, Any]]:
    """Speak to the run by what it had printed, which ends with its input."""
    final = library.load(TASK).task.final
    values = {"integer": 0, "string": "", "boolean": True}
    fields = {name: values[field.type] for name, field in final.items()}
    asked: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        _call(2, "run_command", command="basename $PWD"),
        _call(3, "final_answer", answer=42),
        _call(4, "final_answer", fields=fields),
    ]
    proxy = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert proxy.stdin
    assert proxy.stdout
    with proxy:
        for message in asked:
            proxy.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            proxy.stdin.flush()
        told = [json.loads(proxy.stdout.readline()) for _ in range(4)]
    assert proxy.returncode == 0
    return told


def _call(number: int, name: str, **arguments: object) -> dict[str, Any]:
    return {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
