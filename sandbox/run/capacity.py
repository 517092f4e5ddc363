"""How many runs a machine can hold at once."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sandbox.container.engines.base import Engine
from sandbox.model.task import Task
from sandbox.run.admission import works

MEMORY = Path("/proc/meminfo")
KEPT = 0.1
"""Part of the memory that is left to everybody else."""

HARNESS_BYTES = 512 << 20
"""What collecting and grading a run takes of this process at most, whatever its agent has left."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """What the machine that runs containers has now; None for what cannot be told."""

    memory_bytes: int | None
    """Free, or to be had without swapping."""
    cpus: int | None

    @classmethod
    def of(cls, engine: Engine) -> "Capacity":
        """Look at an engine's machine, if it is this one."""
        if not engine.info().local:
            return cls(None, None)
        return cls(_available(), len(os.sched_getaffinity(0)))

    def at_once(self, asked: int, tasks: Iterable[Task]) -> tuple[int, str]:
        """Give how many runs may go on at once, at most `asked`, and what is to be said of it.

        Every run may take its task's memory, and those that are collected or graded just now take
        some of this process, so only as many go on as find both. More than there are processors
        take turns (see `admission.py`), which is said.
        """
        wanted = max((task.limits.memory_bytes for task in tasks), default=0)
        most = asked
        if self.memory_bytes is not None and wanted:
            left = int(self.memory_bytes * (1 - KEPT))
            graded = min(works(self.cpus or 1), left // (wanted + HARNESS_BYTES))
            most = min(asked, max(1, (left - graded * HARNESS_BYTES) // wanted))
        if most < asked:
            free, each = ((size or 0) >> 20 for size in (self.memory_bytes, wanted))
            return most, (
                f"{most} at once instead of {asked}: each run may take {each} MiB, and {free} MiB"
                " are free"
            )
        if self.cpus is not None and most > self.cpus:
            return most, (
                f"{most} at once on {self.cpus} processors: they take turns, and what a run waits"
                " for its turn counts against no limit"
            )
        return most, ""


def _available() -> int | None:
    """Bytes of memory that a new process can have (proc(5), MemAvailable)."""
    try:
        rows = dict(line.split(":", 1) for line in MEMORY.read_text().splitlines())
        return int(rows["MemAvailable"].split()[0]) << 10
    except (OSError, KeyError, ValueError):
        return None
