"""The MCP server by its wire, and what it refuses."""

import contextlib
import json
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from sandbox.agents import mcp_server
from sandbox.agents.base import Garbage
from sandbox.agents.call_queue import WAITING_LIMIT, Calls
from sandbox.agents.mcp_server import INSTRUCTIONS, McpServer
from sandbox.agents.requests import LINE_LIMIT
from sandbox.model.action import ACTIONS, SERVER_ACTIONS, Request
from sandbox.model.briefing import Ended, Reply, brief
from tests.sandbox.agents.mcp_wire import HttpClient, SocketClient
from tests.sandbox.runs import ANSWER
from tests.sandbox.worlds import task

Client = SocketClient | HttpClient


class Served:
    """A server whose calls are answered with what was asked, by a loop of its own."""

    def __init__(self, folder: Path) -> None:
        self.calls = Calls()
        self.cancelled: list[str] = []
        self.calls.cancel_with(self.cancelled.append)
        self.server = McpServer(
            self.calls, brief(task(final=ANSWER), "r1", "/home/agent/x"), folder / "mcp.sock"
        )
        self.taken: list[Request | Garbage] = []
        self.held = threading.Event()
        self.held.set()
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def _work(self) -> None:
        reply = None
        while (asked := self.calls.take(reply, 60)) is not None:
            self.taken.append(asked)
            self.held.wait(60)
            told = asked.problem if isinstance(asked, Garbage) else asked.action
            reply = Reply(
                id=asked.id, status="ok", error_code=None, message=told, result={"n": "é\u2028"}
            )

    def socket(self) -> SocketClient:
        assert self.server.socket
        return SocketClient(self.server.socket)

    def http(self) -> HttpClient:
        return HttpClient(self.server.url, self.server.token)

    def close(self) -> None:
        self.held.set()
        self.calls.end()
        self.thread.join()
        self.server.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    served = Served(tmp_path)
    yield served
    served.close()


@pytest.fixture(params=["socket", "http"])
def client(request: pytest.FixtureRequest, served: Served) -> Iterator[Client]:
    client = served.socket() if request.param == "socket" else served.http()
    client.greet()
    yield client
    client.close()


def tools(client: Client) -> dict[str, dict[str, Any]]:
    if isinstance(client, SocketClient):
        heard = client.answer(client.request("tools/list", {}))
    else:
        heard = client.request("tools/list", {})
    return {tool["name"]: tool for tool in heard["result"]["tools"]}


def test_the_tools_are_the_actions(client: Client) -> None:
    found = tools(client)
    assert list(found) == [name for name in ACTIONS if name not in (*SERVER_ACTIONS, "ask_user")]
    for name, tool in found.items():
        assert tool["description"] == ACTIONS[name].__doc__
        if name != "final_answer":
            assert tool["inputSchema"] == ACTIONS[name].model_json_schema()
    answer = found["final_answer"]["inputSchema"]["properties"]["fields"]
    assert answer["required"] == ["text", "count", "ratio", "sure", "names"]
    assert answer["properties"]["count"] == {"type": "integer"}
    assert "SECRET" not in json.dumps(found)


def test_a_call_is_a_request_and_its_result_structured(client: Client, served: Served) -> None:
    result = client.call("read_file", path="a")
    assert served.taken == [Request(id="1", action="read_file", arguments={"path": "a"})]
    expected: dict[str, object] = {
        "status": "ok",
        "error_code": None,
        "message": "read_file",
        "result": {"n": "é\u2028"},
        "turns_left": None,
        "output_left": None,
        "seconds_left": None,
        "said": [],
    }
    assert result["structuredContent"] == expected
    schema = tools(client)["read_file"]["outputSchema"]
    # What is left of a bound is there only where a rule tells it.
    assert schema["properties"].keys() == {*expected, "left"}
    assert set(schema["required"]) < expected.keys()
    assert [json.loads(part["text"]) for part in result["content"]] == [expected]
    assert not result["isError"]


def test_what_the_protocol_of_lines_refuses_is_refused(client: Client, served: Served) -> None:
    client.call("run_command", command="a", number=1 << 70)
    assert isinstance(served.taken[0], Garbage)
    client.call("no_such_tool")
    assert served.taken[1] == Request(id="2", action="no_such_tool")


def test_calls_of_several_clients_are_answered_in_turn(served: Served) -> None:
    served.held.clear()
    clients = [served.socket() for _ in range(3)]
    for client in clients:
        client.greet()
    asked = [(client, client.begin("git_diff")) for client in clients for _ in range(2)]
    served.held.set()
    for client, number in asked:
        assert client.answer(number)["result"]["structuredContent"]["message"] == "git_diff"
    for client in clients:
        client.close()
    assert sorted(request.id or "" for request in served.taken) == list("123456")


def test_a_flood_of_calls_is_refused_beyond_a_limit(served: Served) -> None:
    served.held.clear()
    client = served.socket()
    client.greet()
    first = client.begin("git_diff")
    while not served.taken:
        pass
    asked = [client.begin("git_diff") for _ in range(WAITING_LIMIT + 10)]
    refused = [client.hear()["result"] for _ in range(10)]
    assert {each["structuredContent"]["error_code"] for each in refused} == {"bad_request"}
    served.held.set()
    for number in (first, *asked[:WAITING_LIMIT]):
        assert not client.answer(number)["result"]["isError"]
    client.close()


def test_a_client_that_cancels_or_goes_takes_its_calls_back(served: Served) -> None:
    served.held.clear()
    client = served.socket()
    client.greet()
    running, waiting = client.begin("run_command"), client.begin("git_diff")
    while not served.taken:
        pass
    for number in (waiting, running):
        client.say(method="notifications/cancelled", params={"requestId": number})
    while not served.cancelled:
        pass
    assert served.cancelled == ["1"]
    other = served.socket()
    other.greet()
    third = other.begin("list_files")
    served.held.set()
    assert other.answer(third)["result"]["structuredContent"]["message"] == "list_files"
    served.held.clear()
    other.begin("read_file")
    while len(served.taken) < 3:
        pass
    other.close()
    while len(served.cancelled) < 2:
        pass
    assert [request.id for request in served.taken] == ["1", "3", "4"]
    assert served.cancelled == ["1", "4"]
    client.close()


def test_a_call_over_http_is_cancelled_by_a_note(served: Served) -> None:
    served.held.clear()
    client, other = served.http(), served.http()
    client.greet()
    other.headers = client.headers
    number = client.count + 1

    told: list[dict[str, Any]] = []
    asked = {"name": "run_command", "arguments": {}}
    asking = threading.Thread(target=lambda: told.append(client.request("tools/call", asked)))
    asking.start()
    while not served.taken:
        pass
    note = {"method": "notifications/cancelled", "params": {"requestId": number}}
    assert other.post(json.dumps({"jsonrpc": "2.0", **note}).encode())[0] == 202
    while not served.cancelled:
        pass
    assert served.cancelled == ["1"]
    asking.join()
    assert "result" not in told[0]
    client.close()
    other.close()


def test_progress_is_told_where_it_is_wanted(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_server, "PROGRESS_SECONDS", 0.01)
    served.held.clear()
    client = served.socket()
    client.greet()
    params = {"name": "run_tests", "arguments": {}, "_meta": {"progressToken": "p"}}
    number = client.request("tools/call", params)
    told = client.hear()
    assert told["method"] == "notifications/progress"
    assert told["params"]["progressToken"] == "p"
    assert told["params"]["message"].startswith("run_tests")
    served.held.set()
    assert "result" in client.answer(number)
    client.close()


def test_after_the_end_a_call_is_refused(client: Client, served: Served) -> None:
    served.calls.close(None, Ended(ended="final_answer"))
    result = client.call("git_diff")
    assert result["isError"]
    assert result["structuredContent"]["error_code"] == "run_over"
    assert "final_answer" in result["structuredContent"]["message"]


# Who gets in, and how much


@pytest.mark.parametrize("header", [None, "Bearer ", "Bearer x", "Basic x", "bearer {token}x"])
def test_http_needs_the_token(served: Served, header: str | None) -> None:
    client = served.http()
    del client.headers["Authorization"]
    if header is not None:
        client.headers["Authorization"] = header.format(token=served.server.token)
    assert client.post(b"{}")[0] == 401
    client.close()


def test_http_is_for_this_host_only(served: Served) -> None:
    assert served.server.url.startswith("http://127.0.0.1:")
    client = served.http()
    client.headers["Host"] = "example.org"
    assert client.post(b"{}")[0] == 421
    client.headers["Host"] = "127.0.0.1:1"
    client.headers["Origin"] = "http://example.org"
    assert client.post(b"{}")[0] == 403
    client.close()


def test_the_socket_is_its_owners_and_goes_with_the_server(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    served = Served(deep)
    path = deep / "mcp.sock"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    client = served.socket()
    client.greet()
    client.close()
    served.close()
    assert not path.exists()


def test_bodies_are_bounded(served: Served) -> None:
    web = served.http()
    assert web.post(b"x" * (LINE_LIMIT + 1))[0] == 413
    web.close()
    client = served.socket()
    client.greet()
    with contextlib.suppress(ConnectionError):
        client.send(b'"' + b"x" * (LINE_LIMIT + 1) + b'"')
    with pytest.raises((AssertionError, ConnectionError)):
        client.hear()
    with contextlib.suppress(ConnectionError):
        client.close()


# Garbage

VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
    max_leaves=8,
)
NEARLY = some.fixed_dictionaries(
    {"jsonrpc": some.sampled_from(["2.0", "1.0", None])},
    optional={
        "id": VALUES,
        "method": some.sampled_from(["tools/call", "tools/list", "ping", "initialize"]) | VALUES,
        "params": some.fixed_dictionaries({}, optional={"name": VALUES, "arguments": VALUES})
        | VALUES,
    },
).map(lambda message: json.dumps(message).encode())
LINES = some.binary(max_size=200) | NEARLY


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=some.lists(LINES, max_size=5), greeted=some.booleans())
def test_garbage_over_the_socket_harms_nobody_else(
    served: Served, lines: list[bytes], greeted: bool
) -> None:
    client = served.socket()
    if greeted:
        client.greet()
    for line in lines:
        client.send(line)
    client.close()
    other = served.socket()
    other.greet()
    assert other.call("git_diff")["structuredContent"]["message"] == "git_diff"
    other.close()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(body=LINES, greeted=some.booleans())
def test_garbage_over_http_harms_nobody_else(served: Served, body: bytes, greeted: bool) -> None:
    client = served.http()
    if greeted:
        client.greet()
    status, _ = client.post(body)
    assert 200 <= status < 500
    client.close()
    other = served.http()
    other.greet()
    assert other.call("git_diff")["structuredContent"]["message"] == "git_diff"
    other.close()


def test_who_comes_by_itself_is_told_the_task(tmp_path: Path) -> None:
    """As instructions, as a prompt and as a resource; nobody else finds the latter two."""
    briefing = brief(task(final=ANSWER), "r1", "/home/agent/x")
    server = McpServer(Calls(), briefing, tmp_path / "mcp.sock", tells=True)
    try:
        client = SocketClient(tmp_path / "mcp.sock")
        greeting = client.greet()["result"]
        assert briefing.prompt.rstrip() in greeting["instructions"]
        assert {"prompts", "resources"} <= set(greeting["capabilities"])

        def asked(method: str, **params: str) -> dict[str, object]:
            return client.answer(client.request(method, params))

        text = str(asked("prompts/get", name="task")["result"])
        assert briefing.prompt.splitlines()[0] in text
        text = str(asked("resources/read", uri="sandbox://task")["result"])
        assert briefing.prompt.splitlines()[0] in text
        assert "sandbox://task" in str(asked("resources/list")["result"])
        assert "'task'" in str(asked("prompts/list")["result"])
        assert "There is one prompt" in str(asked("prompts/get", name="x")["error"])
        assert "There is one resource" in str(asked("resources/read", uri="sandbox://x")["error"])
        client.close()
    finally:
        server.close()


def test_who_was_given_the_prompt_is_offered_tools_alone(served: Served) -> None:
    client = served.socket()
    greeting = client.greet()["result"]
    assert greeting["instructions"] == INSTRUCTIONS
    assert not {"prompts", "resources"} & set(greeting["capabilities"])
    client.close()
