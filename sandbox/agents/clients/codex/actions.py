"""Actions of a run, asked for over the socket of its MCP server, one after the other."""

import json
import socket
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import JsonValue, ValidationError

from sandbox.agents.call_server import address
from sandbox.agents.requests import LINE_LIMIT
from sandbox.model.errors import CallError
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.version import VERSION

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "codex-bridge", "version": VERSION},
}
_ENVELOPE = 200
"""Bytes that surely hold what stands around the parameters of a message."""

GONE = "The run is over, or its harness is gone."

TAKEN_BACK = Observation(
    status="error", error_code=ErrorCode.CANCELLED, message="It was taken back."
)
TOO_LONG = Observation(
    status="error",
    error_code=ErrorCode.TOO_LARGE,
    message=f"An action has at most {LINE_LIMIT} bytes.",
)


class Actions:
    """One connection; `cancel` and `close` may come from any thread."""

    def __init__(self, path: Path) -> None:
        """Connect; CallError where no run serves there."""
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._count = 0
        self._gone = False
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            with address(path) as place:
                self._socket.connect(place)
        except OSError as error:
            self._socket.close()
            raise CallError(f"No run serves MCP at {path}: {error.strerror}.") from error
        self._lines = self._socket.makefile("rb")
        threading.Thread(target=self._hear, name="actions", daemon=True).start()
        self._ask("initialize", HELLO, lambda _: None)
        self._send({"method": "notifications/initialized"})

    def perform(
        self,
        action: str,
        arguments: Mapping[str, JsonValue],
        asked: Callable[[int], None] = lambda _: None,
    ) -> Observation:
        """Ask for an action and wait until it is done; CallError where the run has gone.

        `asked` is told the number that takes it back.
        """
        params = {"name": action, "arguments": dict(arguments)}
        if len(json.dumps(params)) > LINE_LIMIT - _ENVELOPE:
            return TOO_LONG
        heard = self._ask("tools/call", params, asked)
        if not heard:
            return TAKEN_BACK
        try:
            told = heard["result"]["structuredContent"]
            seen = {name: told[name] for name in Observation.model_fields}
            return Observation.model_validate_json(json.dumps(seen))
        except (KeyError, TypeError, ValidationError) as error:
            raise CallError(f"The run answered something else: {str(heard)[:200]}") from error

    def cancel(self, number: int) -> None:
        """Take an action back: what it has started is killed."""
        with self._lock:
            waiting = self._waiting.pop(number, None)
        if waiting is None:
            return
        with suppress(CallError):  # with the run goes all that it does
            self._send({"method": "notifications/cancelled", "params": {"requestId": number}})
        waiting.set_result({})

    def close(self) -> None:
        """Leave; what goes on is taken back."""
        with suppress(OSError):  # the other side was first
            self._socket.shutdown(socket.SHUT_RDWR)

    def _ask(
        self, method: str, params: Mapping[str, Any], asked: Callable[[int], None]
    ) -> dict[str, Any]:
        answered: Future[dict[str, Any]] = Future()
        with self._lock:
            if self._gone:
                raise CallError(GONE)
            self._count += 1
            number = self._count
            self._waiting[number] = answered
        self._send({"id": number, "method": method, "params": params})
        asked(number)
        return answered.result()

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        try:
            with self._lock:
                self._socket.sendall(data)
        except OSError as error:
            raise CallError(GONE) from error

    def _hear(self) -> None:
        """Hand out answers until the run has gone."""
        with suppress(OSError, ValueError):  # it went in the middle of a line
            for line in self._lines:
                heard = json.loads(line)
                with self._lock:
                    waiting = self._waiting.pop(heard.get("id"), None)
                if waiting is not None:
                    waiting.set_result(heard)
        with self._lock:
            self._gone = True
            left = list(self._waiting.values())
            self._waiting.clear()
        for waiting in left:
            waiting.set_exception(CallError(GONE))
