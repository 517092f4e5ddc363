"""The disk as a limit: what a container writes is looked at several times a second."""

import contextlib
import math
import os
import threading
import time
from typing import ClassVar

from sandbox.container.engines.base import Engine, Session
from sandbox.model.errors import DiskError, EngineError, UsageError
from sandbox.model.session import MEBIBYTE, DiskUse
from sandbox.model.task import RunLimits

VARIABLE = "SANDBOX_DISK_RESERVE"
RESERVE = 1 << 30
"""Bytes of the engine's disk that are nobody's: below it no run is begun, and none is judged."""

TICK_SECONDS = 0.2
"""How often the free space is looked at."""

SHARE = 25
"""Looking at what was written takes all watches at most one part in so many of the time, ..."""

DROP = 64 * MEBIBYTE
"""... unless the disk has lost so much since."""


class DiskWatch:
    """Looks at one container while it is open; kills what runs there once it has its limit."""

    _going: ClassVar[int] = 0
    """Watches at work in this process, which share the time that they may take."""
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, session: Session, limits: RunLimits) -> None:
        self._session, self._limits = session, limits
        self._reserve = reserve()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="disk", daemon=True)
        self.exceeded = ""
        """Why it may go on no longer, in a sentence; empty as long as it may."""
        self._starved = ""
        self._looked, self._took = -math.inf, 0.0
        self._free: int | None = None

    def begin(self) -> None:
        """Look from now on."""
        with DiskWatch._lock:
            DiskWatch._going += 1
        self._thread.start()

    def end(self) -> None:
        """Look once more, now that nothing is written any more, and then no longer."""
        self.stop()
        with contextlib.suppress(EngineError):
            self.look()

    def stop(self) -> None:
        """Look no longer."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def check(self) -> None:
        """Raise DiskError where the disk had too little left for anybody, whoever took it."""
        if self._starved and not self.exceeded:
            raise DiskError(self._starved, "Make room on the engine's disk, then run it again.")

    def look(self) -> None:
        """Look once; EngineError where the container cannot be looked at."""
        began = time.monotonic()
        used = self._session.disk(self._limits.files)
        self._took, self._looked, self._free = time.monotonic() - began, began, used.free_bytes
        self.exceeded = self.exceeded or objection(used, self._limits)
        self._note_shortage(used.free_bytes)

    def _note_shortage(self, free: int | None) -> None:
        if free is not None and free < self._reserve:
            self._starved = shortage(free)

    def _work(self) -> None:
        try:
            self._watch()
        finally:
            with DiskWatch._lock:
                DiskWatch._going -= 1

    def _watch(self) -> None:
        while True:
            with contextlib.suppress(EngineError):  # who uses the session is told what is wrong
                if self._is_due():
                    self.look()
                if self.exceeded or self._starved:
                    self._session.kill_all()
            if self._over.wait(TICK_SECONDS):
                return

    def _is_due(self) -> bool:
        """Whether what was written has to be looked at again, not only what is free."""
        free = self._session.disk(0).free_bytes
        self._note_shortage(free)
        lost = 0 if free is None or self._free is None else self._free - free
        pause = SHARE * DiskWatch._going * self._took
        return lost > DROP or time.monotonic() - self._looked > pause


def objection(used: DiskUse, limits: RunLimits) -> str:
    """Say which limit a container has reached; empty where none."""
    if used.bytes is not None and used.bytes > limits.disk_bytes:
        return f"It has written {used.bytes} bytes and may write {limits.disk_bytes}."
    if used.files is not None and used.files > limits.files:
        return f"It has written more than the {limits.files} files that it may."
    return ""


def ready(engine: Engine, limits: RunLimits) -> None:
    """Make sure that a run finds its disk and leaves the reserve; DiskError where it would not."""
    free = engine.free_bytes()
    if free is not None and free < reserve() + limits.disk_bytes:
        raise DiskError(
            f"{shortage(free)} A run may write {limits.disk_bytes} bytes more. Nothing was run.",
            f"Make room on the engine's disk, or set {VARIABLE} lower.",
        )


def reserve() -> int:
    """Bytes of the engine's disk that are nobody's; UsageError where the variable is no number."""
    given = os.environ.get(VARIABLE)
    if given is None:
        return RESERVE
    if not given.isdecimal():
        raise UsageError(f"{VARIABLE} is {given!r}.", "Set it to a number of bytes, or not at all.")
    return int(given)


def shortage(free: int) -> str:
    """Say that the disk has too little left."""
    return f"The engine's disk has {free} bytes left; {reserve()} of it are kept free."
