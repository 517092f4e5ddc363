"""Timing: medians of rounds that are interleaved."""

import statistics
import time
from collections.abc import Callable

Measure = tuple[str, str, float, float, float, bool]
"""What, the floor's name, ours and the floor in ms, the bound, whether it says `faster`."""


def milliseconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def nothing() -> None:
    """What comes before a round as a rule."""


def interleaved(
    rounds: int, *works: Callable[[], object], before: Callable[[], object] = nothing
) -> list[float]:
    """Median of each in ms, after one round that is not counted; `before` each is not either."""
    taken = []
    for _ in range(rounds + 1):
        before()
        taken.append([milliseconds(work) for work in works])
    return [statistics.median(column) for column in zip(*taken[1:], strict=True)]
