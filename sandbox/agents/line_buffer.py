"""A stream of bytes into lines, of which none takes more memory than the limit."""

from collections import deque

from sandbox.agents.base import Garbage, Withdrawal
from sandbox.agents.requests import LINE_LIMIT, garbage, read
from sandbox.model.action import Request


class Lines:
    """Collects chunks; what they made whole is in `ready`. Blank lines are passed over."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self.ready: deque[Request | Garbage | Withdrawal] = deque()
        self._limit = limit
        self._pending = bytearray()
        self._dropped = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes; an empty chunk is the end, which also ends a line."""
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            self._add(part)
            self._finish()
        self._add(rest)
        if not chunk:
            self._finish()

    def _add(self, part: bytes) -> None:
        kept = part[: self._limit - len(self._pending)]
        self._pending += kept
        self._dropped += len(part) - len(kept)

    def _finish(self) -> None:
        line, dropped = bytes(self._pending), self._dropped
        self._pending.clear()
        self._dropped = 0
        if dropped:
            size = len(line) + dropped
            problem = f"The line has {size} bytes; {self._limit} are allowed."
            self.ready.append(garbage(line, problem))
        elif line.strip():
            self.ready.append(read(line))
