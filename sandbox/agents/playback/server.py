"""A model server on loopback that follows a script, for clients that know only real ones.

Which step is due the request itself tells: as many as its conversation has had calls. So several
conversations may go on at once, and one that is tried again gets the same answer. Requests without
tools, by which clients make titles and the like, are answered with a word.
"""

import gzip
import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self, cast

import h11

from sandbox.agents.playback.chat import Chat
from sandbox.agents.playback.gemini import Gemini
from sandbox.agents.playback.messages import Messages
from sandbox.agents.playback.responses import Responses
from sandbox.agents.playback.script import Call, Fault, Say, Script
from sandbox.agents.playback.turn import Answer, Asked, Called, Dialect, Json, resolve

DIALECTS: tuple[Dialect, ...] = (Chat(), Responses(), Messages(), Gemini())

BODY_LIMIT = 32 << 20
"""Bytes of a request."""

OVER = Say(text="There is nothing more to do.")
ASIDE = Say(text="ok")

_MODEL = {
    "id": "scripted",
    "object": "model",
    "type": "model",
    "display_name": "scripted",
    "owned_by": "sandbox",
    "created_at": "2025-01-01T00:00:00Z",
}


@dataclass
class Seen:
    """What clients have asked for."""

    requests: list[Asked] = field(default_factory=list)
    """Those with tools."""
    first: bytes = b""
    """The first of them as it came."""
    unknown: list[str] = field(default_factory=list)
    """Paths that no interface serves."""

    @property
    def offered(self) -> set[str]:
        """The names of all tools that were ever offered."""
        return {tool.whole for asked in self.requests for tool in asked.tools}


class ModelServer:
    """Serves until it is closed; each request in a thread of its own."""

    def __init__(self, script: Script, port: int = 0) -> None:
        """Take a port of the loopback, any for 0; OSError where it is taken."""
        self.seen = Seen()
        self.failed: Counter[int] = Counter()
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._number = 0
        # A fault stands before the step that it keeps from being done.
        self._steps: list[tuple[list[Fault], Call | Say]] = []
        faults: list[Fault] = []
        for step in (*script, OVER):
            if isinstance(step, Fault):
                faults.append(step)
            else:
                self._steps.append((faults, step))
                faults = []
        self._server = _Server(("127.0.0.1", port), self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._serve, name="models", daemon=True).start()

    def respond(self, dialect: Dialect, asked: Asked, body: bytes) -> Answer | Fault:
        """Do the step that is due."""
        with self._lock:
            self._number += 1
            number = self._number
            if not asked.tools:
                return dialect.answer(asked, ASIDE, number)
            self.seen.first = self.seen.first or body
            self.seen.requests.append(asked)
            due = min(asked.calls, len(self._steps) - 1)
            faults, step = self._steps[due]
            fault = self._fault(due, faults)
            if fault is not None:
                return fault
        said = Called(resolve(step, asked.tools), step) if isinstance(step, Call) else step
        return dialect.answer(asked, said, number)

    def close(self) -> None:
        """Serve no more."""
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=0.02)

    def _fault(self, due: int, faults: list[Fault]) -> Fault | None:
        had = self.failed[due]
        for fault in faults:
            if fault.times is None or had < fault.times:
                self.failed[due] += 1
                return fault
            had -= fault.times
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], models: ModelServer) -> None:
        self.models = models
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _models(self) -> ModelServer:
        return cast(_Server, self.server).models

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._send(200, b"")

    def do_GET(self) -> None:
        if "/models" in self.path:
            self._json({"object": "list", "data": [_MODEL], "models": [], "has_more": False})
        else:
            self._unknown()

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        try:
            content = self._body()
            body = json.loads(content)
            if path.endswith(("/count_tokens", ":countTokens")):
                self._json({"input_tokens": 1, "totalTokens": 1})
                return
            dialect = next((each for each in DIALECTS if each.serves(path)), None)
            if dialect is None:
                self._unknown()
                return
            asked = dialect.read(path, body)
        except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
            problem = {"message": f"no request: {type(error).__name__}: {error}"}
            self._json({"error": problem}, 400)
            self.close_connection = True
            return
        answer = self._models.respond(dialect, asked, content)
        if isinstance(answer, Fault):
            self._fail(answer)
        elif asked.stream:
            self._stream(answer)
        else:
            self._json(answer.whole)

    def _body(self) -> bytes:
        """Read a body of at most BODY_LIMIT bytes; ValueError where it is longer."""
        if "chunked" in self.headers.get("transfer-encoding", ""):
            body = self._chunks()
        else:
            size = int(self.headers.get("content-length") or 0)
            if not 0 <= size <= BODY_LIMIT:
                raise ValueError("the body is too long")
            body = self.rfile.read(size)
        if self.headers.get("content-encoding") == "gzip":
            return gzip.decompress(body)
        return body

    def _chunks(self) -> bytes:
        """Read a body in chunks by h11, and nothing of what may follow it."""
        reader = h11.Connection(h11.SERVER)
        reader.receive_data(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        reader.next_event()
        body = bytearray()
        try:
            while not isinstance(event := reader.next_event(), h11.EndOfMessage):
                if isinstance(event, h11.Data):
                    body += event.data
                else:
                    # By lines, for the last one ends the body.
                    reader.receive_data(self.rfile.readline(1 << 16))
                if len(body) > BODY_LIMIT:
                    raise ValueError("the body is too long")
        except h11.RemoteProtocolError as error:
            raise ValueError("the body is not in chunks") from error
        return bytes(body)

    def _fail(self, fault: Fault) -> None:
        match fault.how:
            case int(status):
                problem = {"type": "api_error", "message": "scripted failure", "code": status}
                self._json({"type": "error", "error": problem}, status)
            case "hang":
                self._models.stopping.wait()
            case "garbage":
                self._send(200, b"\x00{]", "application/json")
            case "cut":
                self._start_stream()
                self.wfile.write(b'data: {"id": "half')
        self.close_connection = True

    def _stream(self, answer: Answer) -> None:
        self._start_stream()
        for event in answer.events:
            name = f"event: {event['type']}\n" if answer.named else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        if answer.done:
            self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _start_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def _unknown(self) -> None:
        self._models.seen.unknown.append(f"{self.command} {self.path}")
        self._json({"error": {"message": "not found"}}, 404)

    def _json(self, value: Json, status: int = 200) -> None:
        self._send(status, json.dumps(value).encode(), "application/json")

    def _send(self, status: int, body: bytes, kind: str = "text/plain") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
