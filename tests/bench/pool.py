"""A world from a pool, whose container is ready, against one that is opened from nothing."""

import statistics
import tempfile
import time
from pathlib import Path

import sandbox
from tests.bench.clock import Measure
from tests.bench.fixture import TASK

READY_MS = 150
ROUNDS = 8
APART_SECONDS = 2.0
"""Between two, so that the next container is there; a trainer's episodes take longer."""


def measure() -> list[Measure]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        warm, cold = _taken(Path(folder))
    return [
        ("a pool's world opened", "the bound, ms", warm, READY_MS, 1, False),
        ("a pool's world opened", "without the pool", warm, cold, 1, False),
    ]


def _taken(runs: Path) -> tuple[float, float]:
    """Medians in milliseconds; the first of each is left out, for a process loads modules then."""
    warm, cold = [], []
    with sandbox.Pool(TASK, 1, runs=runs) as pool:
        for _ in range(ROUNDS + 1):
            time.sleep(APART_SECONDS)
            begun = time.monotonic()
            world = pool.open()
            warm.append(time.monotonic() - begun)
            world.finish()
            begun = time.monotonic()
            world = sandbox.open(TASK, runs=runs)
            cold.append(time.monotonic() - begun)
            world.finish()
    return statistics.median(warm[1:]) * 1000, statistics.median(cold[1:]) * 1000
