"""The client of tool servers: against the protocol's own library, and against what is no server."""

import json
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.container.servers.mcp_client import LINE_LIMIT, Client, RefusedError, UnavailableError
from sandbox.container.supervisor import compiler
from sandbox.container.supervisor.client import Supervisor
from sandbox.container.supervisor.conversation import RemoteConversation
from tests.sandbox.container.supervisor.local import SECONDS, by_pipes, command, end

INVENTORY = Path(__file__).with_name("inventory.py")
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {}}

Talk = Callable[[str], RemoteConversation]


@pytest.fixture(scope="module")
def supervisor() -> Iterator[Supervisor]:
    """The real supervisor, as a child of the tests."""
    local = by_pipes(Path(), [str(compiler.binary(platform.machine()))], [], lambda: None)
    yield local.supervisor
    end(local)


@pytest.fixture
def client(supervisor: Supervisor) -> Client:
    return Client(supervisor.converse(command(sys.executable, str(INVENTORY))), SECONDS)


@pytest.fixture
def talk(supervisor: Supervisor) -> Talk:
    """A server that is a line of Python; `say` sends a message or bytes, `ask` takes one."""
    before = """
import json, sys
def ask(): return json.loads(sys.stdin.buffer.readline())
def say(what):
    sys.stdout.buffer.write(what if type(what) is bytes else json.dumps(what).encode() + b"\\n")
    sys.stdout.buffer.flush()
def result(value): say({"jsonrpc": "2.0", "id": ask()["id"], "result": value})
"""
    return lambda line: supervisor.converse(
        command(sys.executable, "-c", before + line, stdout_limit=2 * LINE_LIMIT)
    )


@pytest.mark.slow
def test_a_real_server_is_understood(client: Client) -> None:
    tools = {tool.name: tool for tool in client.tools()}
    assert set(tools) == {"count", "describe"}
    assert tools["count"].description == "How many there are."
    assert tools["count"].schema_["required"] == ["item"]
    described = client.call("describe", {"item": "nut", "size": 2.5})
    assert json.loads(described.text) == {"item": "nut", "size": 2.5, "wörd": "ß"}
    assert client.call("count", {"item": "bolt"}).structured == {"result": 7}


@pytest.mark.slow
def test_a_tool_that_fails_gives_a_result(client: Client) -> None:
    answer = client.call("count", {"item": "none"})
    assert answer.is_error
    assert "count" in answer.text


def test_what_the_server_refuses_is_told_apart(talk: Talk) -> None:
    error = {"code": -32602, "message": "no tool of that name"}
    line = f"result({HELLO}); ask(); say({{'id': ask()['id'], 'error': {error}}})"
    with pytest.raises(RefusedError, match="no tool of that name"):
        Client(talk(line), SECONDS).call("none", {})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sys.exit('no database')", "ended with exit code 1: no database"),
        ("say(b'hello\\n')", "not a valid message"),
        ("say(b'[1]\\n')", "not a valid message"),
        ("result({'protocolVersion': '1999-01-01'})", "MCP 1999-01-01"),
        ("result({})", "protocolVersion"),
        (f"say(b'x' * {LINE_LIMIT + 1})", "more than"),
        ("import os; os.close(1); ask()", "ended|closed"),
        ("import os, signal; os.kill(os.getpid(), 9)", "signal 9"),
    ],
)
def test_what_is_no_server_is_unavailable(talk: Talk, line: str, said: str) -> None:
    with pytest.raises(UnavailableError, match=said):
        Client(talk(line), SECONDS)


def test_silence_has_an_end(talk: Talk) -> None:
    with pytest.raises(UnavailableError, match=r"no answer in 0\.2 seconds"):
        Client(talk("import time; time.sleep(600)"), 0.2)


def test_notes_and_requests_of_the_server_do_not_disturb(talk: Talk) -> None:
    line = f"""
result({HELLO})
ask()
say({{"jsonrpc": "2.0", "method": "notifications/message", "params": {{}}}})
say({{"jsonrpc": "2.0", "id": "p", "method": "ping"}})
say({{"jsonrpc": "2.0", "id": "r", "method": "roots/list"}})
asked = ask()
assert ask() == {{"jsonrpc": "2.0", "id": "p", "result": {{}}}}
assert ask()["error"]["code"] == -32601
say({{"jsonrpc": "2.0", "id": 99, "result": {{}}}})
tools = [{{"name": "a", "inputSchema": {{}}}}]
say({{"jsonrpc": "2.0", "id": asked["id"], "result": {{"tools": tools, "nextCursor": "2"}}}})
more = ask()
assert more["params"] == {{"cursor": "2"}}
say({{"jsonrpc": "2.0", "id": more["id"], "result": {{"tools": tools}}}})
"""
    assert [tool.name for tool in Client(talk(line), SECONDS).tools()] == ["a", "a"]


def test_a_list_without_end_is_given_up(talk: Talk) -> None:
    line = f"result({HELLO}); ask()\nwhile True: result({{'tools': [], 'nextCursor': 'again'}})"
    with pytest.raises(UnavailableError, match="pages"):
        Client(talk(line), SECONDS).tools()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
results = st.fixed_dictionaries(
    {},
    optional={
        "content": values | st.lists(st.fixed_dictionaries({"type": values, "text": values})),
        "structuredContent": values,
        "isError": values,
        "tools": values,
    },
)


class Said:
    """A conversation in which everything was said already."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def send(self, data: bytes, timeout: float | None = None) -> None:
        pass

    def receive(self, timeout: float | None = None) -> bytes:  # noqa: ARG002
        data, self._data = self._data[:50], self._data[50:]
        if not data:
            raise TimeoutError
        return data


@settings(suppress_health_check=list(HealthCheck))
@given(answer=results | values, noise=st.binary(max_size=80), noisy=st.booleans())
def test_any_answer_is_a_result_or_an_error(answer: object, noise: bytes, *, noisy: bool) -> None:
    hello = json.dumps({"id": 1, "result": HELLO}).encode() + b"\n"
    second = noise if noisy else json.dumps({"id": 2, "result": answer}).encode() + b"\n"
    try:
        client = Client(Said(hello + second), 1)  # type: ignore[arg-type]
        assert isinstance(client.call("a", {}).text, str)
    except (UnavailableError, RefusedError):
        pass
