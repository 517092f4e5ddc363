"""How many runs a machine can hold at once."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sandbox.model.task import Task

MEMORY = Path("/proc/meminfo")
KEPT = 0.1
"""Part of the memory that is left to everybody else."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """What the machine has now."""

    memory_bytes: int | None
    """Free, or to be had without swapping; None where that cannot be told."""
    cpus: int

    @classmethod
    def here(cls) -> "Capacity":
        """Look at this machine."""
        return cls(_available(), len(os.sched_getaffinity(0)))

    def at_once(self, asked: int, tasks: Iterable[Task]) -> tuple[int, str]:
        """Give how many runs may go on at once, at most `asked`, and what is to be said of it.

        Every run may take its task's memory, so only as many go on as find that. More than there
        are processors only slow each other down, which is allowed and said.
        """
        wanted = max((task.limits.memory_bytes for task in tasks), default=0)
        most = asked
        if self.memory_bytes is not None and wanted:
            most = min(asked, max(1, int(self.memory_bytes * (1 - KEPT)) // wanted))
        if most < asked:
            free, each = ((size or 0) >> 20 for size in (self.memory_bytes, wanted))
            return most, (
                f"{most} runs at once instead of {asked}: each may take {each} MiB, and {free} MiB"
                " are free"
            )
        if most > self.cpus:
            return most, (
                f"{most} runs at once on {self.cpus} processors: each takes longer, and limits of"
                " time go on"
            )
        return most, ""


def _available() -> int | None:
    """Bytes of memory that a new process can have (proc(5), MemAvailable)."""
    try:
        rows = dict(line.split(":", 1) for line in MEMORY.read_text().splitlines())
        return int(rows["MemAvailable"].split()[0]) << 10
    except (OSError, KeyError, ValueError):
        return None
