"""What an agent says piece by piece, into claims of the trace: whole parts, and a bounded whole."""

import threading
from collections.abc import Callable
from typing import Literal

from sandbox.model.event import Claimed

About = Literal["message", "thought", "plan", "permission", "usage"]

PART_LIMIT = 64 << 10
"""Characters of one claim."""
TOTAL_LIMIT = 4 << 20
"""Characters of all claims of a run."""


class Claims:
    """Collects; what follows on the same is one claim. Safe to use from several threads."""

    def __init__(self) -> None:
        self._record: Callable[[Claimed], None] = lambda _: None
        self._lock = threading.Lock()
        self._about: About = "message"
        self._parts: list[str] = []
        self._size = 0
        self._left = TOTAL_LIMIT

    def claim_with(self, record: Callable[[Claimed], None]) -> None:
        """Learn who records them."""
        self._record = record

    def say(self, about: About, text: str) -> None:
        """Take the next piece."""
        with self._lock:
            if self._left < 0:
                return
            if about != self._about:
                self._flush()
                self._about = about
            kept = text[: self._left]
            self._left -= len(kept)
            self._parts.append(kept)
            self._size += len(kept)
            if len(kept) < len(text):
                self._parts.append("[the rest was dropped]")
                self._left = -1
            if self._size >= PART_LIMIT:
                self._flush()

    def flush(self) -> None:
        """Record what has been said by now."""
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        text = "".join(self._parts)
        self._parts.clear()
        self._size = 0
        for start in range(0, len(text), PART_LIMIT):
            self._record(Claimed(about=self._about, text=text[start : start + PART_LIMIT]))
