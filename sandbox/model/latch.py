"""A latch: waited for by any thread, opened once.

`threading.Event`, `Condition` and `Future` guard what they hold by a lock that Python code takes
and gives back. A Ctrl-C that comes to the main thread between the two leaves it locked, and whoever
opens it waits for ever. A lock by itself has no such moment. It is waited for in slices, because an
interrupt that the kernel gives to another thread does not wake the main one.
"""

import contextlib
import threading
import time

SLICE_SECONDS = 0.2


class Latch:
    """Closed until it is opened."""

    def __init__(self) -> None:
        self._closed = threading.Lock()
        self._closed.acquire()
        self.is_open = False

    def open(self) -> None:
        """Let everybody pass, now and later."""
        self.is_open = True
        self._release()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is open, at most so many seconds; whether it is."""
        end = None if seconds is None else time.monotonic() + seconds
        while not self.is_open:
            left = SLICE_SECONDS if end is None else min(SLICE_SECONDS, end - time.monotonic())
            if left <= 0:
                return False
            if self._closed.acquire(timeout=left):
                self._release()
        return True

    def _release(self) -> None:
        with contextlib.suppress(RuntimeError):  # somebody else has released it meanwhile
            self._closed.release()
