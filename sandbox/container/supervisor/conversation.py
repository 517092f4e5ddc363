"""A command that is spoken with while it runs, as the host sees it."""

import queue
import time
from collections.abc import Callable

from sandbox.container.supervisor import protocol
from sandbox.container.supervisor.process import RemoteProcess
from sandbox.container.supervisor.protocol import STDIN_WINDOW, Reply, Request
from sandbox.model.session import Command

UNENDING = 1 << 62
"""Bytes of standard input that are announced, so that the supervisor leaves it open."""


class RemoteConversation(RemoteProcess):
    """A command whose standard input stays open; see `engines.base.Conversation`."""

    def __init__(
        self,
        command: Command,
        send: Callable[[bytes], None],
        await_end: Callable[[RemoteProcess], None],
    ) -> None:
        super().__init__(command, send, await_end, announce=True)
        self.stdin_bytes = UNENDING
        self._room = STDIN_WINDOW
        self._heard: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def send(self, data: bytes, timeout: float | None = None) -> None:
        """Write to its standard input."""
        deadline = None if timeout is None else time.monotonic() + timeout
        rest = memoryview(data)
        while rest:
            if not self._room:
                self._wait_for_room(deadline)
            part = bytes(rest[: self._room])
            if self.done:
                raise BrokenPipeError("the command has ended")
            self._room -= len(part)
            rest = rest[len(part) :]
            self._send(protocol.frame(Request.STDIN, self._request, part))

    def receive(self, timeout: float | None = None) -> bytes:
        """Wait for what it prints next."""
        try:
            data = self._heard.get(timeout=None if timeout is None else max(timeout, 0))
        except queue.Empty:
            raise TimeoutError("the command prints nothing") from None
        if not data:
            self._heard.put(b"")
        return data

    def take(self, kind: Reply, payload: bytes) -> bool:
        """Take output, room for input, its start or its end."""
        if kind is Reply.STDOUT:
            self._heard.put(payload)
            return False
        return super().take(kind, payload)

    def finish(self) -> None:
        """It has ended or could not be started."""
        super().finish()
        self._heard.put(b"")

    def _wait_for_room(self, deadline: float | None) -> None:
        left = None if deadline is None else max(deadline - time.monotonic(), 0)
        try:
            credit = self._credit.get(timeout=left)
        except queue.Empty:
            raise TimeoutError("the command reads nothing") from None
        if credit < 0:
            self._credit.put(credit)
            raise BrokenPipeError("the command has ended")
        self._room += credit
