"""A chat endpoint on loopback that answers by a script, faults included."""

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, cast

from pydantic import JsonValue

USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 10,
    "total_tokens": 110,
    "prompt_tokens_details": {"cached_tokens": 40},
}


@dataclass(frozen=True)
class Fault:
    """An answer that is none."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    missing: int = 0
    """Bytes that are promised and never sent."""


def error(status: int, message: str = "no", code: str | None = None, **headers: str) -> Fault:
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault(status, body, named)


def says(*calls: tuple[str, JsonValue], text: str | None = None) -> dict[str, Any]:
    """A message that calls tools; arguments that are text are sent as they are."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": given if isinstance(given, str) else json.dumps(given),
                },
            }
            for number, (name, given) in enumerate(calls)
        ]
    return message


Step = Fault | dict[str, Any]


class ChatServer:
    """Answers each request with the next step; the last one again and again."""

    def __init__(self, *steps: Step) -> None:
        self.steps: Sequence[Step] = steps
        self.requests: list[dict[str, Any]] = []
        """What was asked, in order."""
        self.keys: set[str] = set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        cast(Any, self._server).owner = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def step(self, request: dict[str, Any], key: str) -> Step:
        self.requests.append(request)
        self.keys.add(key)
        return self.steps[min(len(self.requests), len(self.steps)) - 1]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass

    def do_POST(self) -> None:
        owner: ChatServer = cast(Any, self.server).owner
        assert self.path == "/v1/chat/completions"
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        step = owner.step(asked, self.headers["authorization"])
        answer = step if isinstance(step, Fault) else Fault(body=_completion(step))
        self.send_response(answer.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer.body) + answer.missing))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)


def _completion(message: dict[str, Any]) -> bytes:
    reason = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**head, "choices": [choice], "usage": USAGE}).encode()
