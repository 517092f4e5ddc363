"""What is passed on to a model and back, what is not, and where the key is seen."""

import http.client
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.container.engines.loopback import LoopbackListener
from sandbox.container.forwarder import Forwarded, Forwarder, Upstream, environment
from sandbox.container.forwarder.forwarder import BODY_LIMIT
from sandbox.container.forwarder.interfaces import PLACEHOLDER, credentials
from sandbox.model.errors import UsageError
from tests.sandbox.container.forwarder import upstream as servers
from tests.sandbox.container.forwarder.upstream import PIECES, Answer, Server, plain, serving

KEY = "sk-the-real-key-0123456789"
CHAT = "/v1/chat/completions"


@dataclass
class Way:
    """A forwarder and what it told."""

    port: int
    server: Server
    told: list[Forwarded] = field(default_factory=list)

    def ask(
        self, method: str = "POST", path: str = CHAT, body: bytes = b"{}", **headers: str
    ) -> tuple[http.client.HTTPResponse, bytes]:
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        client.request(method, path, body, named)
        answer = client.getresponse()
        return answer, answer.read()

    def say(self, data: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), 30) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            with client.makefile("rb") as answer:
                return answer.read()


@contextmanager
def forwarding(answer: Answer, key: str = KEY, suffix: str = "") -> Iterator[Way]:
    with serving(answer) as server:
        forwarder = Forwarder(Upstream.chosen(server.url + suffix, key))
        told: list[Forwarded] = []
        with LoopbackListener(0, lambda each: forwarder.serve(each, told.append)) as listener:
            yield Way(listener.port, server, told)


@pytest.fixture(autouse=True)
def direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (CHAT, {"authorization": f"Bearer {KEY}"}),
        ("/v1/responses", {"authorization": f"Bearer {KEY}"}),
        ("/v1/messages?beta=true", {"x-api-key": KEY}),
        ("/v1beta/models/gemini:streamGenerateContent?alt=sse", {"x-goog-api-key": KEY}),
        ("/v1/models", {"authorization": f"Bearer {KEY}", "x-api-key": KEY}),
    ],
)
def test_the_key_is_added_where_it_belongs(path: str, headers: dict[str, str]) -> None:
    with forwarding(plain("200 OK", b"hello", "X-Kept: yes")) as way:
        answer, body = way.ask(
            path=path,
            Authorization=f"Bearer {PLACEHOLDER}",
            x_api_key=PLACEHOLDER,
            x_goog_api_key=PLACEHOLDER,
            anthropic_version="2023-06-01",
        )
    assert (answer.status, body, answer.getheader("X-Kept")) == (200, b"hello", "yes")
    (asked,) = way.server.asked
    sent = {name: asked.headers[name] for name in asked.headers if "key" in name or "auth" in name}
    assert sent == headers
    assert asked.line == f"POST {path} HTTP/1.1"
    assert asked.body == b"{}"
    assert asked.headers["anthropic-version"] == "2023-06-01"
    assert asked.headers["host"] == f"127.0.0.1:{way.server.port}"
    assert way.told == [Forwarded("POST", path.partition("?")[0], 200, 5)]


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/", "/deep/v1"])
def test_an_address_is_taken_with_and_without_its_version(suffix: str) -> None:
    with forwarding(plain("200 OK", b""), suffix=suffix) as way:
        way.ask()
    folder = "/deep" if "deep" in suffix else ""
    assert way.server.asked[0].line == f"POST {folder}{CHAT} HTTP/1.1"


def test_events_are_passed_on_as_they_come() -> None:
    turns = [threading.Event() for _ in PIECES]

    def answer(client: socket.socket) -> None:
        client.sendall(servers.HEAD)
        for turn, piece in zip(turns, PIECES, strict=True):
            assert turn.wait(30)
            client.sendall(servers.chunk(piece))
        client.sendall(b"0\r\n\r\n")

    with forwarding(answer) as way:
        client = http.client.HTTPConnection("127.0.0.1", way.port, timeout=30)
        client.request("POST", CHAT, b"{}")
        found = client.getresponse()
        assert found.getheader("Content-Type") == "text/event-stream"
        for turn, piece in zip(turns, PIECES, strict=True):  # the next is not sent before
            turn.set()
            assert found.read(len(piece)) == piece
        assert found.read() == b""


@pytest.mark.parametrize("status", ["429 Too Many Requests", "500 Oh", "302 Found"])
def test_what_the_server_says_is_passed_on(status: str) -> None:
    with forwarding(plain(status, b"why", "Retry-After: 7", "Location: http://other/")) as way:
        answer, body = way.ask()
    assert (answer.status, body, answer.getheader("Retry-After")) == (int(status[:3]), b"why", "7")
    assert len(way.server.asked) == 1


def test_half_a_stream_is_half_a_stream() -> None:
    with forwarding(servers.half) as way:
        client = http.client.HTTPConnection("127.0.0.1", way.port, timeout=30)
        client.request("POST", CHAT, b"{}")
        with pytest.raises(http.client.IncompleteRead) as caught:
            client.getresponse().read()
    assert caught.value.partial == PIECES[0]
    assert [(each.status, each.problem) for each in way.told] == [(200, "IncompleteRead")]


def test_an_answer_shorter_than_it_says() -> None:
    def answer(client: socket.socket) -> None:
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")

    with forwarding(answer) as way, pytest.raises(http.client.IncompleteRead):
        way.ask()
    assert way.told == [Forwarded("POST", CHAT, 200, 4, "the answer broke off")]


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden"])
def test_the_key_is_not_told_by_who_refuses_it(status: str) -> None:
    with forwarding(plain(status, f"wrong key: {KEY}".encode(), f"X-Key: {KEY}")) as way:
        answer, body = way.ask()
    assert answer.status == int(status[:3])
    assert KEY.encode() not in body + str(answer.headers).encode()


def test_a_header_with_the_key_is_not_passed_back() -> None:
    with forwarding(plain("200 OK", b"", f"X-Key: {KEY}", "Set-Cookie: a=b")) as way:
        answer, _ = way.ask()
    assert KEY not in str(answer.headers)
    assert "Set-Cookie" not in answer.headers
    assert KEY not in repr(Upstream.chosen("http://x", KEY))


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v1/files",
        "/v1/organization/api_keys",
        "/v1/chat/completions/../../files",
        "/v1/responses/../files",
        "/v1/responses/%2e%2e/files",
        "/v1/responses/%252e%252e/files",
        "/v1/responses//files",
        "http://other.example/v1/models",
        "//other.example/v1/models",
    ],
)
def test_nothing_else_is_passed_on(path: str) -> None:
    with forwarding(plain("200 OK", b"")) as way:
        head = way.say(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert head.startswith(b"HTTP/1.1 403 ")
    assert way.server.asked == []
    assert way.told[0].problem


CHUNKED = "Transfer-Encoding: chunked\r\n\r\n"


def test_bodies_come_whole_or_not_at_all() -> None:
    post = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\n".encode()
    extended = b"1;" + b"x" * 2000
    with forwarding(plain("200 OK", b"ok")) as way:
        chunked = post + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n" + extended
        chunked += b"\r\nc\r\n0\r\n\r\n"
        assert way.say(chunked).endswith(b"ok")
        expecting = post + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc"
        assert way.say(expecting).startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")
        assert [each.body for each in way.server.asked] == [b"abc", b"abc"]
        for wrong, status in (
            (b"Content-Length: 5\r\n\r\nabc", 400),
            (b"Content-Length: -1\r\n\r\n", 400),
            (b"Transfer-Encoding: gzip\r\n\r\n", 400),
            (b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
            (b"Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", 400),
            (f"Content-Length: {BODY_LIMIT + 1}\r\n\r\n".encode(), 413),
            (b"Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n", 400),
            (b"Transfer-Encoding: chunked\r\n\r\n+1\r\na\r\n0\r\n\r\n", 400),
            (b"Transfer-Encoding: chunked\r\n\r\n1_0\r\n0123456789abcdef\r\n0\r\n\r\n", 400),
            (b"Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n", 400),
            (f"{CHUNKED}{BODY_LIMIT + 1:x}\r\n".encode() + b"x" * (BODY_LIMIT + 1), 413),
        ):
            assert way.say(post + wrong).startswith(f"HTTP/1.1 {status} ".encode()), wrong
        assert len(way.server.asked) == 2


@settings(max_examples=100, deadline=None, suppress_health_check=[*HealthCheck])
@given(data=st.binary(min_size=1, max_size=300))
def test_garbage_is_refused(way: Way, data: bytes) -> None:
    assert way.say(data).startswith(b"HTTP/1.1 4")
    assert way.server.asked == []


@pytest.fixture(scope="module")
def way() -> Iterator[Way]:
    with forwarding(plain("200 OK", b"")) as found:
        yield found


def test_a_server_that_is_not_there() -> None:
    with forwarding(plain("200 OK", b"")) as way, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        forwarder = Forwarder(Upstream.chosen(f"http://127.0.0.1:{taken.getsockname()[1]}", KEY))
        told: list[Forwarded] = []
        with LoopbackListener(0, lambda each: forwarder.serve(each, told.append)) as listener:
            answer, _ = Way(listener.port, way.server).ask()
    assert answer.status == 502
    assert told[0].problem == "ConnectionRefusedError"


def test_the_end_of_the_way_ends_what_waits() -> None:
    asked, over = threading.Event(), threading.Event()

    def silent(client: socket.socket) -> None:
        asked.set()
        client.recv(1)  # returns once the forwarder has given up
        over.set()

    with forwarding(silent) as way:
        client = socket.create_connection(("127.0.0.1", way.port), 30)
        client.sendall(f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".encode())
        assert asked.wait(30)
    assert over.wait(30)
    client.close()


def test_the_hosts_proxy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(plain("200 OK", b"by proxy")) as proxy:
        monkeypatch.setenv("http_proxy", f"http://me:secret@127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NO_PROXY", "")
        monkeypatch.delenv("no_proxy", raising=False)
        forwarder = Forwarder(Upstream.chosen("http://model.invalid/v1", KEY))
        with LoopbackListener(0, lambda each: forwarder.serve(each, lambda _: None)) as listener:
            _, body = Way(listener.port, proxy).ask()
    assert body == b"by proxy"
    assert proxy.asked[0].line == f"POST http://model.invalid{CHAT} HTTP/1.1"
    assert proxy.asked[0].headers["proxy-authorization"] == "Basic bWU6c2VjcmV0"


@pytest.mark.parametrize(
    "url", ["", "x", "ftp://x", "http://", "http://x:0", "http://u@x", "http://x?a", "http://x:y"]
)
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(UsageError, match="not the address"):
        Upstream.chosen(url, "")


def test_without_a_key_none_is_sent() -> None:
    assert credentials(CHAT, "") == {}
    with pytest.raises(UsageError, match="characters"):
        Upstream.chosen("http://x", "a\nb")


@pytest.mark.slow
def test_clients_find_their_model() -> None:
    assert environment(80)["OPENAI_BASE_URL"] == "http://127.0.0.1:80/v1"
    assert environment(80)["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:80"
    source = (
        "import openai; print(openai.OpenAI().chat.completions.create("
        "model='m', messages=[{'role': 'user', 'content': 'x'}]).choices[0].message.content)"
    )
    said = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "hello"}}]}'
    with forwarding(plain("200 OK", said, "Content-Type: application/json")) as way:
        done = subprocess.run(
            [sys.executable, "-c", source],
            env={**os.environ, **environment(way.port), "no_proxy": "127.0.0.1"},
            capture_output=True,
            check=True,
            timeout=60,
        )
    assert done.stdout.strip() == b"hello"
    assert way.server.asked[0].headers["authorization"] == f"Bearer {KEY}"
