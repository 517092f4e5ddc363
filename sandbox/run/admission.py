"""Who may put a machine to work: what runs do at once on few processors waits for its turn.

More commands at once than processors only take time from each other, until one is slowed into a
limit of its own. So a batch admits as many works (a container's start, an action, the grading) as
keep its processors busy, those of the run that began first before the others'. A work that only
waits, such as a sleep, keeps nobody out: while the machine has room the next one is admitted.
"""

import bisect
import math
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

LOAD = Path("/proc/loadavg")
PER_CPU = 2
"""Works for each processor: while one reads or waits for the engine another one computes."""

LOOK_SECONDS = 0.05
"""How often the first in the queue looks whether the machine has room."""

SLICE_SECONDS = 0.5
"""How often the others look whether they are to wait any longer."""


def works(cpus: int) -> int:
    """Give how many works keep so many processors busy."""
    return PER_CPU * cpus


@dataclass(slots=True, order=True)
class _Waiting:
    run: int
    called: threading.Event = field(default_factory=threading.Event, compare=False)
    """Set when it is the first and a work has ended."""


@dataclass(slots=True)
class Queue:
    """The works of all runs of a machine of so many processors."""

    cpus: int
    check: Callable[[], None] = lambda: None
    """Called while one waits; raises where it is to wait no longer."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: list[_Waiting] = field(default_factory=list)
    _going: int = 0
    _runs: int = 0

    def place(self) -> "Place":
        """Give the next run its place, behind all others."""
        with self._lock:
            self._runs += 1
            return Place(self, self._runs)

    def enter(self, run: int) -> None:
        """Wait until a run's work may begin."""
        waiting = _Waiting(run)
        with self._lock:
            bisect.insort(self._waiting, waiting)
        try:
            while not self._admit(waiting):
                waiting.called.wait(LOOK_SECONDS if self._is_first(waiting) else SLICE_SECONDS)
                waiting.called.clear()
                self.check()
        except BaseException:
            with self._lock:
                self._waiting.remove(waiting)
                self._call()
            raise

    def leave(self) -> None:
        """A work has ended."""
        with self._lock:
            self._going -= 1
            self._call()

    def _admit(self, waiting: _Waiting) -> bool:
        with self._lock:
            if not self._is_first(waiting) or not self._has_room():
                return False
            del self._waiting[0]
            self._going += 1
            self._call()
            return True

    def _is_first(self, waiting: _Waiting) -> bool:
        return self._waiting[0] is waiting

    def _has_room(self) -> bool:
        return self._going < works(self.cpus) or _runnable() <= self.cpus

    def _call(self) -> None:
        if self._waiting:
            self._waiting[0].called.set()


@dataclass(frozen=True, slots=True)
class Place:
    """A run's place in a queue, or in none."""

    queue: Queue | None = None
    run: int = 0

    @contextmanager
    def turn(self) -> Generator[float, None, None]:
        """Have a turn while the context is open, and say how many seconds it was waited for.

        Not to be nested: a run that waits within its turn would wait for itself.
        """
        if self.queue is None:
            yield 0.0
            return
        began = time.monotonic()
        self.queue.enter(self.run)
        try:
            yield time.monotonic() - began
        finally:
            self.queue.leave()


FREE = Place()
"""That of a run which is alone: it never waits."""


def _runnable() -> float:
    """Give how many threads of the machine run or want to (proc_loadavg(5), fourth field).

    Where that cannot be told, all are taken to be busy.
    """
    try:
        return int(LOAD.read_text().split()[3].partition("/")[0])
    except (OSError, IndexError, ValueError):
        return math.inf
