"""The scripted model server by its wire: four interfaces, faults, and garbage."""

import gzip
import http.client
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from sandbox.agents.playback.script import Call, Fault, Say, Script
from sandbox.agents.playback.server import ModelServer
from sandbox.agents.playback.turn import Tool, resolve

SCRIPT: Script = (
    Call(action="run_command", arguments={"command": "ls"}),
    Call(tool="Bash", arguments={}),
    Say(text="bye"),
)
NAME = "mcp__sandbox__run_command"


def chat(calls: int, told: str = "", stream: bool = False) -> tuple[str, dict[str, Any]]:
    called = [{"role": "assistant", "tool_calls": [{}]}, {"role": "tool", "content": told}] * calls
    tools = [{"type": "function", "function": {"name": NAME}}]
    messages = [{"role": "user", "content": "go"}, *called]
    body = {"model": "m", "messages": messages, "tools": tools, "stream": stream}
    return "/v1/chat/completions", body


def responses(calls: int, told: str = "", stream: bool = False) -> tuple[str, dict[str, Any]]:
    called = [{"type": "function_call"}, {"type": "function_call_output", "output": told}] * calls
    inner = [{"type": "function", "name": "run_command"}]
    tools = [{"type": "namespace", "name": "mcp__sandbox", "tools": inner}]
    items = [{"type": "message", "role": "user", "content": "go"}, *called]
    return "/v1/responses", {"model": "m", "input": items, "tools": tools, "stream": stream}


def messages(calls: int, told: str = "", stream: bool = False) -> tuple[str, dict[str, Any]]:
    called = [
        {"role": "assistant", "content": [{"type": "tool_use"}]},
        {"role": "user", "content": [{"type": "tool_result", "content": told}]},
    ] * calls
    body = {"messages": [{"role": "user", "content": "go"}, *called], "tools": [{"name": NAME}]}
    return "/v1/messages", {"model": "m", "stream": stream, **body}


def gemini(calls: int, told: str = "", stream: bool = False) -> tuple[str, dict[str, Any]]:
    called = [
        {"role": "model", "parts": [{"functionCall": {}}]},
        {"role": "user", "parts": [{"functionResponse": {"response": {"output": told}}}]},
    ] * calls
    body = {
        "contents": [{"role": "user", "parts": [{"text": "go"}]}, *called],
        "tools": [{"functionDeclarations": [{"name": NAME}]}],
    }
    method = "streamGenerateContent" if stream else "generateContent"
    return f"/v1beta/models/m:{method}", body


Shape = Callable[..., tuple[str, dict[str, Any]]]
SHAPES: tuple[Shape, ...] = (chat, responses, messages, gemini)


@pytest.fixture
def served() -> Iterator[ModelServer]:
    with ModelServer(SCRIPT) as server:
        yield server


def post(
    server: ModelServer, path: str, body: bytes, headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    try:
        connection.request("POST", path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def ask(server: ModelServer, asked: tuple[str, dict[str, Any]]) -> str:
    status, body = post(server, asked[0], json.dumps(asked[1]).encode())
    assert status == 200, body
    return body.decode()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_each_interface_follows_the_script(shape: Shape, stream: bool, served: ModelServer) -> None:
    first = ask(served, shape(0, stream=stream))
    assert "run_command" in first
    assert "command" in first
    assert "Bash" in ask(served, shape(1, "listed", stream=stream))
    assert served.seen.requests[-1].told == tuple(
        ['{"output": "listed"}'] if shape is gemini else ["listed"]
    )
    assert "bye" in ask(served, shape(2, stream=stream))
    assert "nothing more" in ask(served, shape(9, stream=stream))
    whole = "mcp__sandbox.run_command" if shape is responses else NAME
    assert served.seen.offered == {whole}


def test_a_conversation_without_tools_is_an_aside(served: ModelServer) -> None:
    path, body = chat(0)
    del body["tools"]
    assert '"ok"' in ask(served, (path, body))
    assert served.seen.requests == []


def test_a_call_of_a_namespace_names_it(served: ModelServer) -> None:
    item = json.loads(ask(served, responses(0)))["output"][0]
    assert (item["namespace"], item["name"]) == ("mcp__sandbox", "run_command")


@pytest.mark.parametrize(
    ("action", "offered", "found"),
    [
        ("run_command", ["x_run_command", "mcp__sandbox__run_command_x"], "x_run_command"),
        ("read_file", ["mcp__sandbox__read_file", "thread_file"], "mcp__sandbox__read_file"),
        ("read_file", ["thread_file"], "read_file"),
        ("read_file", [], "read_file"),
    ],
)
def test_an_action_is_called_by_the_name_that_is_offered(
    action: str, offered: list[str], found: str
) -> None:
    assert resolve(Call(action=action), tuple(map(Tool, offered))).name == found


def test_faults_come_as_often_as_they_should() -> None:
    script = (Fault(how=429, times=2), Fault(how="cut"), *SCRIPT[:1], Fault(how=500, times=None))
    with ModelServer((*script, Say(text="never"))) as server:
        path, body = chat(0, stream=True)
        data = json.dumps(body).encode()
        assert [post(server, path, data)[0] for _ in range(2)] == [429, 429]
        assert post(server, path, data) == (200, b'data: {"id": "half')
        assert b"run_command" in post(server, path, data)[1]
        path, body = chat(1)
        assert {post(server, path, json.dumps(body).encode())[0] for _ in range(5)} == {500}


def test_what_is_unknown_is_noted(served: ModelServer) -> None:
    assert post(served, "/v1/embeddings", b"{}")[0] == 404
    assert served.seen.unknown == ["POST /v1/embeddings"]


def test_bodies_are_read_however_they_come(served: ModelServer) -> None:
    path, body = chat(0)
    data = json.dumps(body).encode()
    assert post(served, path, gzip.compress(data), {"Content-Encoding": "gzip"})[0] == 200
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data)
    assert post(served, path, chunks, {"Transfer-Encoding": "chunked"})[0] == 200
    assert post(served, path, b"", {"Content-Length": str(1 << 40)})[0] == 400


JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
    max_leaves=6,
)
KEYS = ("messages", "input", "contents", "tools", "model", "stream")
NEARLY = some.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, JSON))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    body=some.binary(max_size=50) | NEARLY.map(lambda value: json.dumps(value).encode()),
    shape=some.sampled_from(SHAPES),
)
def test_garbage_is_refused_and_harms_nothing(
    body: bytes, shape: Shape, served: ModelServer
) -> None:
    status, _ = post(served, shape(0)[0], body)
    assert status in (200, 400)
    assert "run_command" in ask(served, shape(0))
