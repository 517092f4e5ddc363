"""Clients of the MCP server that are programs: what each makes of a run, and what stays of it."""

import shlex
import sys
import threading
import time
from pathlib import Path

import pytest

from sandbox.agents import mcp_agent
from sandbox.agents.mcp_agent import CommandClient, McpAgent, Place
from sandbox.model.errors import AgentError
from sandbox.model.event import RunEnded
from sandbox.run.stop import Stop
from tests.sandbox.agents.mcp_wire import HttpClient, SocketClient
from tests.sandbox.agents.test_program_agent import LEAVES, gone
from tests.sandbox.runs import World
from tests.sandbox.worlds import task

HEAD = """
import json, os, signal, sys, threading, time
from pathlib import Path
from tests.sandbox.agents.mcp_wire import HttpClient, SocketClient
def connect():
    client = HttpClient(os.environ["SANDBOX_MCP_URL"], os.environ["SANDBOX_MCP_TOKEN"])
    client.greet()
    return client
client = connect()
def until(name):
    while not (Path(os.environ["ROOT"]) / name).exists(): time.sleep(0.01)
"""
ANSWER = 'client.call("final_answer", fields={})\n'


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "tree").mkdir()
    return World(tmp_path, task=task(limits={"silence_seconds": 20}))


def place(world: World) -> Place:
    return Place(world.folder / "mcp.sock", world.folder / "out", world.folder / "log")


def play(world: World, source: str) -> RunEnded:
    """Run a program as the client; nothing of it is left."""
    command = shlex.join(["env", f"ROOT={world.root}", sys.executable, "-c", HEAD + source])
    ended = world.run(McpAgent(CommandClient(command), place(world)))
    assert not (world.folder / "mcp.sock").exists()
    return ended


def test_a_client_from_prompt_to_answer(world: World) -> None:
    ended = play(
        world,
        """
print(sys.stdin.read())
entry = json.load(open(os.environ["SANDBOX_MCP_CONFIG"]))["mcpServers"]["sandbox"]
assert entry["url"] == os.environ["SANDBOX_MCP_URL"]
assert os.stat(os.environ["SANDBOX_MCP_CONFIG"]).st_mode & 0o777 == 0o600
client.call("write_file", path="a", content="1\\n")
shown = client.call("run_command", command="cat a")
assert shown["structuredContent"]["result"]["stdout"] == "1\\n"
accepted = client.call("final_answer", fields={})["structuredContent"]["result"]
print(accepted, os.environ["SANDBOX_RUN"])
""",
    )
    assert (ended.reason, ended.turns) == ("final_answer", 3)
    assert world.codes == ["ok"] * 3
    assert (world.folder / "log").read_text() == ""
    printed = (world.folder / "out").read_text()
    assert printed.startswith("Do it.\n\nAll work happens in a container")
    assert printed.endswith("{'accepted': True} r1\n")


def test_one_that_cannot_start(world: World) -> None:
    with pytest.raises(AgentError, match="no-such-client: No such file"):
        world.run(McpAgent(CommandClient("no-such-client"), place(world)))
    assert world.ended.reason == "agent_exited"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("sys.exit(3)", "The agent exited with status 3."),
        ("os.kill(os.getpid(), 11)", "The agent was ended by SIGSEGV."),
        ('client.call("git_diff"); client = connect(); client.call("git_diff")', "status 0"),
    ],
)
def test_one_that_ends_without_an_answer(world: World, source: str, message: str) -> None:
    ended = play(world, source)
    assert ended.reason == "agent_exited"
    assert message in ended.message


def test_one_that_crashes_in_a_call_leaves_nothing_running(world: World) -> None:
    begun = time.monotonic()
    ended = play(
        world,
        """
def die():
    until("pid")
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=die).start()
client.call("run_command", command="echo $$ > pid; exec sleep 600")
""",
    )
    assert (ended.reason, ended.message) == ("agent_exited", "The agent was ended by SIGKILL.")
    assert world.codes == ["cancelled"]
    assert gone(int((world.root / "pid").read_text()))
    assert time.monotonic() - begun < 60


def test_one_that_cancels_goes_on(world: World) -> None:
    ended = play(
        world,
        """
line = SocketClient(Path(os.environ["SANDBOX_MCP_SOCKET"]))
line.greet()
number = line.begin("run_command", command="echo $$ > pid; exec sleep 600")
until("pid")
line.say(method="notifications/cancelled", params={"requestId": number})
client.call("list_files")
"""
        + ANSWER,
    )
    assert ended.reason == "final_answer"
    assert world.codes == ["cancelled", "ok", "ok"]
    assert gone(int((world.root / "pid").read_text()))


@pytest.mark.slow
def test_one_that_hangs(world: World) -> None:
    world.task = task(limits={"silence_seconds": 1})
    assert play(world, "time.sleep(600)").reason == "agent_silent"


def test_wrong_arguments_and_garbage_are_answered(world: World) -> None:
    ended = play(
        world,
        'client.call("read_file", pth=1); client.call("reed_file"); client.post(b"{");' + ANSWER,
    )
    assert ended.reason == "final_answer"
    assert world.codes == ["bad_arguments", "unknown_tool", "ok"]


def test_two_calls_at_once_are_done_one_after_the_other(world: World) -> None:
    ended = play(
        world,
        """
line = SocketClient(Path(os.environ["SANDBOX_MCP_SOCKET"]))
line.greet()
first = line.begin("run_command", command="sleep 0.2; echo 1 >> order")
second = line.begin("run_command", command="echo 2 >> order")
line.answer(first), line.answer(second)
"""
        + ANSWER,
    )
    assert ended.reason == "final_answer"
    assert (world.root / "order").read_text() == "1\n2\n"


def test_after_its_answer_nothing_more_is_done(world: World) -> None:
    ended = play(
        world,
        ANSWER + 'print(client.call("write_file", path="late", content="")["structuredContent"])',
    )
    assert (ended.reason, ended.turns) == ("final_answer", 1)
    assert not (world.root / "late").exists()
    assert "'run_over'" in (world.folder / "out").read_text()


def test_one_that_never_ends_is_ended_with_all_it_started(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_agent, "ANSWERED_SECONDS", 0.2)
    ended = play(world, LEAVES + ANSWER + "while True: time.sleep(1)")
    assert ended.reason == "final_answer"
    assert gone(int((world.folder / "log").read_text()))


def test_a_flood_of_errors(world: World) -> None:
    ended = play(world, 'for _ in range(64): os.write(2, b"x" * (1 << 20))\n' + ANSWER)
    assert ended.reason == "final_answer"
    assert (world.folder / "log").stat().st_size < 17 << 20


def test_whoever_connects_may_act_where_there_is_no_program(world: World) -> None:
    ended: list[RunEnded] = []
    agent = Stop().agent(McpAgent(None, place(world)))
    thread = threading.Thread(target=lambda: ended.append(world.run(agent)))
    thread.start()
    while not (world.folder / "mcp.sock").exists():
        time.sleep(0.01)
    for action in ("git_diff", "final_answer"):
        client = SocketClient(world.folder / "mcp.sock")
        client.greet()
        client.call(action, **({"fields": {}} if action == "final_answer" else {}))
        client.close()
    thread.join()
    assert ended[0].reason == "final_answer"
    assert agent.name == "mcp"


@pytest.mark.slow
def test_a_connection_may_be_silent_for_longer_than_servers_wait(world: World) -> None:
    agent = McpAgent(None, place(world))
    thread = threading.Thread(target=world.run, args=(agent,))
    thread.start()
    client = HttpClient(*agent.address())
    client.greet()
    socket = client.connection.sock
    time.sleep(SILENCE)
    told = client.call("run_command", command="echo here")["structuredContent"]
    assert told["result"]["stdout"] == "here\n"
    assert client.connection.sock is socket, "it had to connect anew"
    client.call("final_answer", fields={})
    client.close()
    thread.join()


SILENCE = 6
"""Seconds; uvicorn closes a silent connection after five unless told otherwise."""


def test_sixteen_runs_at_once_lose_nothing(tmp_path: Path) -> None:
    worlds = [World(tmp_path / f"{number}") for number in range(16)]
    agents = []
    threads = []
    for number, world in enumerate(worlds):
        world.root.mkdir(parents=True)
        agent = McpAgent(None, place(world))
        agents.append(agent)
        threads.append(threading.Thread(target=world.run, args=(agent,)))
        threads.append(threading.Thread(target=_write, args=(agent, f"run {number}")))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, world in enumerate(worlds):
        assert world.codes == ["ok"] * 21
        assert [(world.root / f"{turn}").read_text() for turn in range(10)] == [
            f"run {number}"
        ] * 10


def _write(agent: McpAgent, content: str) -> None:
    """Write ten files and read each back, by several connections."""
    for turn in range(10):
        client = HttpClient(*agent.address())
        client.greet()
        client.call("write_file", path=f"{turn}", content=content)
        told = client.call("run_command", command=f"cat {turn}")["structuredContent"]
        assert told["result"]["stdout"] == content
        client.close()
    client = HttpClient(*agent.address())
    client.greet()
    client.call("final_answer", fields={})
    client.close()
