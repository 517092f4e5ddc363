"""Worlds whose containers are started before they are asked for: `sandbox.Pool`."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from sandbox.model.errors import UsageError
from sandbox.rules.policy.approvers import Approver
from sandbox.run.python import OpenWorld, Prepared, store_of
from sandbox.tasks import library


class Pool:
    """Keeps `size` containers of a task ready; each is used for one run, and another is started.

    Safe for several threads. Those that were not asked for are removed when the pool is closed, and
    leave no run behind.
    """

    def __init__(
        self,
        task: str,
        size: int = 1,
        *,
        name: str = "python",
        approver: Callable[[], Approver] | None = None,
        runs: str | Path | None = None,
    ) -> None:
        """Begin to start them; the arguments are those of `sandbox.open`.

        `approver` makes one for each run. UsageError where there is no such task or no size.
        """
        if size < 1:
            raise UsageError(f"A pool of {size} holds nothing.", "Give it a size of 1 or more.")
        self._task, self._store = library.load(task), store_of(runs)
        self._name, self._approver = name, approver
        self._lock = threading.Lock()
        self._closed = False
        self._starting = ThreadPoolExecutor(size, thread_name_prefix="warm")
        self._ready: deque[Future[Prepared]] = deque()
        for _ in range(size):
            self._start()

    def open(self) -> OpenWorld:
        """Give the world that was started first, and have another one started.

        Its record begins now, and so does its time. Raises as `sandbox.open` does, and UsageError
        where the pool is closed.
        """
        with self._lock:
            if self._closed:
                raise UsageError("The pool is closed.", "Open another one.")
            first = self._ready.popleft()
            self._start()
        return OpenWorld(first.result())

    def close(self) -> None:
        """Remove what has not been opened; worlds that are open stay so."""
        with self._lock:
            self._closed = True
            left, self._ready = self._ready, deque()
        for each in left:
            if not each.cancel():
                with suppress(Exception):  # it could not be started, which nobody asked for
                    each.result().discard()
        self._starting.shutdown()

    def _start(self) -> None:
        approver = self._approver() if self._approver else None
        self._ready.append(
            self._starting.submit(Prepared, self._task, self._store, self._name, approver)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
