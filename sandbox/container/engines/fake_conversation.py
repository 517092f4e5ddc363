"""A scripted command that is spoken with."""

import queue
from collections.abc import Callable
from typing import Protocol

from sandbox.model.session import Command, Completed


class _Process(Protocol):
    def wait(self, timeout: float | None = None) -> Completed: ...

    def kill(self) -> None: ...


class FakeConversation:
    """Answers each message with what the script's command prints for it, until one fails."""

    def __init__(self, command: Command, start: Callable[[bytes], _Process]) -> None:
        self._start = start
        self._left = command.stdout_limit
        self._heard: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._last: _Process | None = None
        self._over = False

    def send(self, data: bytes, timeout: float | None = None) -> None:
        """Run the command on this message."""
        if self._over:
            raise BrokenPipeError("the command has ended")
        self._last = self._start(data)
        completed = self._last.wait(timeout)
        printed = completed.stdout[: self._left]
        self._left -= len(printed)
        if printed:
            self._heard.put(printed)
        if completed.exit_code:
            self.kill()

    def receive(self, timeout: float | None = None) -> bytes:
        """Give what was printed next."""
        try:
            data = self._heard.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError("the command prints nothing") from None
        if not data:
            self._heard.put(b"")
        return data

    def wait(self, timeout: float | None = None) -> Completed:
        """Give how the last message's command ended; before the first, that of an empty one."""
        if self._last is None:
            self._last = self._start(b"")
        if self._over:
            self._last.kill()
        return self._last.wait(timeout)

    def kill(self) -> None:
        """Let nothing more be said, and end what goes on."""
        self._over = True
        self._heard.put(b"")
        if self._last is not None:
            self._last.kill()
