"""Agents that speak ACP: a program in raw JSON-RPC for each way to behave, and what stays of it."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.agents import acp_agent
from sandbox.agents.acp_agent import AcpAgent
from sandbox.agents.mcp_agent import Place
from sandbox.model.errors import AgentError
from sandbox.model.event import Claimed, RunEnded
from tests.sandbox.agents.test_program_agent import gone
from tests.sandbox.runs import World
from tests.sandbox.worlds import task

HEAD = """
import json, os, subprocess, sys, threading, time
from pathlib import Path
from tests.sandbox.agents.mcp_wire import HttpClient

def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()
def receive():
    return json.loads(input())
def update(**fields):
    send(method="session/update", params={"sessionId": "s", "update": fields})
def say(text):
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})
def ask(title=None, kinds=("allow_always", "allow_once", "reject_once"), **fields):
    options = [{"optionId": f"o{n}", "name": "!", "kind": kind} for n, kind in enumerate(kinds)]
    call = {"toolCallId": "t", **({"title": title} if title else {}), **fields}
    params = {"sessionId": "s", "toolCall": call, "options": options}
    send(id="ask", method="session/request_permission", params=params)
def answered():
    outcome = receive()["result"]["outcome"]
    return outcome.get("optionId", outcome["outcome"])
def done(reason="end_turn", **fields):
    send(id=prompt["id"], result={"stopReason": reason, **fields})
def until(name):
    while not (root / name).exists(): time.sleep(0.01)
root = Path(os.environ["ROOT"])
http = os.environ.get("HTTP", "1") == "1"
"""
OPEN = """
hello = receive()
assert hello["method"] == "initialize", hello
able = {"mcpCapabilities": {"http": http}}
send(id=hello["id"], result={"protocolVersion": 1, "agentCapabilities": able})
new = receive()
assert new["method"] == "session/new", new
send(id=new["id"], result={"sessionId": "s"})
prompt = receive()
assert prompt["method"] == "session/prompt", prompt
(server,) = new["params"]["mcpServers"]
if http:
    token = server["headers"][0]["value"].removeprefix("Bearer ")
    client = HttpClient(server["url"], token)
    client.greet()
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "tree").mkdir()
    return World(tmp_path, task=task(limits={"silence_seconds": 20}))


def agent(world: World, source: str, **environment: str) -> AcpAgent:
    settings = [f"{name}={value}" for name, value in environment.items()]
    command = shlex.join(["env", f"ROOT={world.root}", *settings, sys.executable, "-c", source])
    place = Place(world.folder / "mcp.sock", world.folder / "out", world.folder / "log")
    return AcpAgent(command, place, ("bridge", "to", "somewhere"))


def play(world: World, source: str, **environment: str) -> RunEnded:
    """Run a program as the agent, from its session on; nothing of it is left."""
    ended = world.run(agent(world, HEAD + OPEN + source, **environment))
    assert not (world.folder / "mcp.sock").exists()
    return ended


def claims(world: World) -> list[tuple[str, str]]:
    events = [entry.event for entry in world.entries]
    return [(event.about, event.text) for event in events if isinstance(event, Claimed)]


def test_an_agent_from_prompt_to_answer(world: World) -> None:
    ended = play(
        world,
        """
assert not hello["params"].get("clientCapabilities"), "neither files nor terminals"
folder = new["params"]["cwd"]
assert new["params"]["_meta"]["claudeCode"]["options"]["tools"] == []
assert os.path.isdir(folder) and not os.listdir(folder)
text = prompt["params"]["prompt"][0]["text"]
assert text.startswith("Do it."), text
say("I will "); say("look.")
update(sessionUpdate="plan", entries=[{"content": "Look", "priority": "high", "status": "pending"}])
shown = client.call("run_command", command="echo 1")
assert shown["structuredContent"]["result"]["stdout"] == "1\\n"
client.call("final_answer", fields={})
say("That was it.")
update(sessionUpdate="usage_update", used=10, size=100, cost={"amount": 0.5, "currency": "USD"})
done(usage={"totalTokens": 130, "inputTokens": 100, "outputTokens": 30, "cachedReadTokens": 40})
""",
    )
    assert (world.folder / "log").read_text() == ""
    assert (ended.reason, ended.turns) == ("final_answer", 2)
    assert world.codes == ["ok", "ok"]
    assert ended.usage is not None
    usage = ended.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (100, 30, 40)
    assert usage.cost == 0.5
    said = claims(world)
    assert ("message", "I will look.") in said
    assert ("plan", "[pending] Look") in said


LOGIN = """
hello = receive()
methods = [
    {"id": "page", "name": "A page", "type": "terminal"},
    {"id": "key", "name": "A key", "type": "env_var", "vars": [{"name": "NOBODY_HAS_SET_THIS"}]},
    {"id": "old", "name": "An old one"},
    {"id": "new", "name": "A new one"},
]
send(id=hello["id"], result={"protocolVersion": 1, "authMethods": methods[: int(os.environ["N"])]})
wanted = {"code": -32000, "message": "Authentication required"}
asked = []
while True:
    message = receive()
    if message["method"] == "authenticate":
        asked.append(message["params"]["methodId"])
        if asked[-1] == "new": send(id=message["id"], result={})
        else: send(id=message["id"], error={"code": -32603, "message": "out of date"})
    elif asked[-1:] == ["new"]: break
    else: send(id=message["id"], error=wanted)
send(id=message["id"], result={"sessionId": "s"})
prompt = receive()
say(" ".join(asked))
done()
"""


def test_one_that_wants_to_be_logged_in_is_by_what_it_offers(world: World) -> None:
    ended = world.run(agent(world, HEAD + LOGIN, N="4"))
    assert ended.message == "The agent ended its turn: end_turn."
    assert claims(world) == [("message", "old new")]


@pytest.mark.parametrize(
    ("methods", "said"), [("2", "goes without a terminal"), ("3", "out of date")]
)
def test_one_that_cannot_be_logged_in_does_not_begin(world: World, methods: str, said: str) -> None:
    with pytest.raises(AgentError, match=said):
        world.run(agent(world, HEAD + LOGIN, N=methods))


def test_an_agent_that_ends_its_turn_without_an_answer(world: World) -> None:
    ended = play(world, 'say("I cannot."); done("refusal"); time.sleep(600)')
    assert (ended.reason, ended.message) == ("agent_exited", "The agent ended its turn: refusal.")
    assert claims(world) == [("message", "I cannot.")]


def test_one_that_speaks_no_http_gets_a_command(world: World) -> None:
    ended = play(
        world,
        """
assert (server["command"], server["args"]) == ("bridge", ["to", "somewhere"]), server
done()
""",
        HTTP="0",
    )
    assert ended.message == "The agent ended its turn: end_turn."


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ('"mcp__sandbox__run_command"', "o1"),
        ('"sandbox_run_command"', "o1"),
        ('"sandbox/write_file"', "o1"),
        ('"run_command (sandbox MCP Server)"', "o1"),
        ('None, rawInput={"server": "sandbox", "tool": "read_file", "arguments": {}}', "o1"),
        ('"x", _meta={"claudeCode": {"toolName": "mcp__sandbox__git_diff"}}', "o1"),
        ('"ls", toolCallId="mcp_sandbox_run_command-1700-2"', "o1"),
        ('"ls", toolCallId="mcp_sandbox_git_diff__mcp_sandbox_git_diff_17_0"', "o1"),
        ('"ls", toolCallId="run_shell_command-1700-2"', "o2"),
        ('"sandbox_run_command", kinds=("allow_always",)', "o0"),
        ('"sandbox_run_command", kinds=("reject_once",)', "cancelled"),
        ("None", "o2"),
        ('"Bash"', "o2"),
        ('"rm -rf / # sandbox_run_command"', "o2"),
        ('"sandbox_run_command; rm -rf /"', "o2"),
        ('"sandbox_fly"', "o2"),
        ('"x", rawInput={"server": "sandbox", "tool": "read_file", "command": "rm"}', "o2"),
        ('"Bash", kinds=("reject_always", "allow_once")', "o0"),
        ('"Bash", kinds=("allow_once",)', "cancelled"),
    ],
)
def test_a_permission_is_for_the_harness_tools_alone_and_goes_by_kind(
    world: World, question: str, answer: str
) -> None:
    ended = play(world, f"ask({question}); say(answered()); done()")
    assert ended.reason == "agent_exited"
    assert ("message", answer) in claims(world)
    assert claims(world)[0][0] == "permission"


def test_what_was_said_of_a_call_before_counts(world: World) -> None:
    play(
        world,
        """
update(sessionUpdate="tool_call", toolCallId="t", title="sandbox_run_command", kind="execute")
ask(); say(answered()); done()
""",
    )
    assert ("message", "o1") in claims(world)


def test_one_that_asks_and_never_waits(world: World) -> None:
    ended = play(world, 'ask("Bash"); client.call("final_answer", fields={}); done()')
    assert ended.reason == "final_answer"
    assert world.codes == ["ok"]


@pytest.mark.parametrize(
    "method", ["fs/read_text_file", "fs/write_text_file", "terminal/create", "no/such"]
)
def test_files_and_terminals_of_the_host_are_not_there(world: World, method: str) -> None:
    play(
        world,
        f"""
params = {{"sessionId": "s", "path": "/etc/passwd", "content": "x", "command": "touch x"}}
send(id="x", method="{method}", params=params)
say(str(receive()["error"]["code"])); done()
""",
    )
    assert claims(world) == [("message", "-32601")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("sys.exit(3)", "The agent exited with status 3."),
        ("os.kill(os.getpid(), 11)", "The agent was ended by SIGSEGV."),
        ('client.call("git_diff"); sys.exit(0)', "The agent exited with status 0."),
        (
            'send(id=prompt["id"], error={"code": -32603, "message": "no money"})',
            "The conversation broke off: no money.",
        ),
        ('send(id=prompt["id"], result={"stopReason": 7})', "The conversation broke off: 1 val"),
        ("for _ in range(200): print('hm', flush=True)\ntime.sleep(600)", "100 lines of the agent"),
        ("os.close(1)\ntime.sleep(600)", "The agent closed its output and went on running."),
    ],
)
def test_one_that_breaks_off(world: World, source: str, message: str) -> None:
    ended = play(world, source)
    assert ended.reason == "agent_exited"
    assert ended.message.startswith(message)


def test_a_crash_before_there_is_a_session(world: World) -> None:
    world.run(agent(world, "import sys; sys.exit(5)"))
    assert world.ended.message == "The agent exited with status 5."


def test_one_that_opens_no_session_says_nothing_about_the_agent(world: World) -> None:
    source = """
hello = receive()
send(id=hello["id"], result={"protocolVersion": 1})
new = receive()
send(id=new["id"], error={"code": -32000, "message": "Authentication required"})
time.sleep(600)
"""
    with pytest.raises(AgentError, match="opened no session: Authentication required"):
        world.run(agent(world, HEAD + source))
    assert world.ended.reason == "agent_exited"


def test_one_that_cannot_start(world: World) -> None:
    place = Place(world.folder / "mcp.sock", world.folder / "out", world.folder / "log")
    with pytest.raises(AgentError, match="no-such-agent: No such file"):
        world.run(AcpAgent("no-such-agent --acp", place, ("bridge",)))
    assert not (world.folder / "mcp.sock").exists()


@pytest.mark.slow
@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("head", [HEAD + OPEN, HEAD, ""])
def test_one_that_hangs_is_silent_and_leaves_nothing(world: World, head: str) -> None:
    world.task = task(limits={"silence_seconds": 1.0})
    source = """
import os, subprocess, time
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
open(os.environ["ROOT"] + "/pid", "w").write(str(child.pid))
time.sleep(600)
"""
    world.run(agent(world, head + source))
    assert world.ended.reason == "agent_silent"
    assert gone(int((world.root / "pid").read_text()))


def test_at_the_end_of_a_budget_it_is_told_to_cancel(world: World) -> None:
    world.task = task(limits={"turns": 1})
    ended = play(
        world,
        """
client.call("git_diff"); client.call("git_diff")
message = receive()
assert message["method"] == "session/cancel", message
say("cancelled"); done("cancelled")
""",
    )
    assert ended.reason == "turn_limit"


def test_calls_after_the_answer_do_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acp_agent, "ANSWERED_SECONDS", 10.0)
    ended = play(
        world,
        """
client.call("final_answer", fields={})
late = client.call("run_command", command="touch late")
assert late["structuredContent"]["error_code"] == "run_over", late
done()
""",
    )
    assert (ended.reason, ended.turns) == ("final_answer", 1)
    assert not (world.root / "late").exists()


def test_a_flood_of_errors_blocks_nothing(world: World) -> None:
    source = 'import sys\nsys.stderr.write("x" * (2 << 20))\nsys.stderr.flush()\n'
    ended = world.run(agent(world, source + HEAD + OPEN + "done()"))
    assert ended.message == "The agent ended its turn: end_turn."
    assert (world.folder / "log").stat().st_size == 2 << 20


def test_a_flood_of_words_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.agents.claims.TOTAL_LIMIT", 1 << 20)
    play(world, 'for _ in range(40): say("x" * 50_000)\ndone()')
    said = "".join(text for _, text in claims(world))
    assert said == "x" * (1 << 20) + "[the rest was dropped]"
    assert max(len(text) for _, text in claims(world)) <= 64 << 10


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "method", "params", "result", "error", "jsonrpc", "update"]),
            inner | st.sampled_from(["session/update", "session/request_permission", "initialize"]),
            max_size=4,
        )
    ),
    max_leaves=8,
)
LINES = st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode())


@pytest.mark.slow
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lines=st.lists(LINES, min_size=30, max_size=60))
def test_garbage_among_messages_is_passed_over(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("garbage")
    (folder / "tree").mkdir()
    world = World(folder, task=task(limits={"silence_seconds": 20}))
    garbage = [line.replace(b"\n", b"") for line in lines]
    ended = play(
        world,
        f"""
for line in {garbage!r}:
    os.write(1, line + b"\\n")
say("still here")
done()
""",
    )
    assert ended.reason in ("agent_exited", "final_answer")
    answered = b'"id": 2' in b"".join(garbage)
    assert answered or ("message", "still here") in claims(world)
