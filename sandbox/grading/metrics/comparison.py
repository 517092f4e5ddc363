"""Two agents on the same tasks, paired by task.

Sign-flip permutation test and paired bootstrap over tasks (families where tasks share one); exact
McNemar only where each task has one trial, for pooling trials into it is wrong; Holm over facets.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.grading.metrics import intervals
from sandbox.grading.metrics.intervals import LEVEL
from sandbox.model.report import Difference

POWER = 0.8
RESAMPLES = 9999
ROUNDING = 1e-12
"""Sums that differ by less are the same sum, added in another order."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One task's trials by both agents, at least one of each."""

    task: str
    family: str
    facet: str
    passed_a: int
    trials_a: int
    passed_b: int
    trials_b: int

    @property
    def difference(self) -> float:
        """Mean of A minus mean of B."""
        return self.passed_a / self.trials_a - self.passed_b / self.trials_b


def compare(pairs: Sequence[Pair]) -> Difference:
    """Compare two agents on at least one common task."""
    count = len(pairs)
    sums = [
        math.fsum(group)
        for group in intervals.grouped(
            [pair.difference for pair in pairs], [pair.family for pair in pairs]
        )
    ]
    sizes = [
        float(len(group))
        for group in intervals.grouped([0.0] * count, [pair.family for pair in pairs])
    ]
    difference = math.fsum(sums) / count
    interval = intervals.bootstrap_ratio(sums, sizes, "paired bootstrap over tasks")
    return Difference(
        tasks=count,
        units=len(sums),
        mean_a=math.fsum(pair.passed_a / pair.trials_a for pair in pairs) / count,
        mean_b=math.fsum(pair.passed_b / pair.trials_b for pair in pairs) / count,
        difference=difference,
        interval=intervals.holding(interval, difference),
        p_value=sign_flip(sums),
        mcnemar=mcnemar(pairs),
        detectable=detectable(pairs),
    )


def sign_flip(sums: Sequence[float]) -> float | None:
    """Two-sided p-value of the paired sign-flip permutation test; exact for up to 13 units.

    Where signs are drawn, the sums as they are count as one draw more (Phipson and Smyth 2010).
    """
    import numpy as np

    units = len(sums)
    if units < 2:
        return None
    exact = 2**units <= RESAMPLES
    if exact:
        flipped = (np.arange(2**units)[:, None] >> np.arange(units)) & 1
    else:
        flipped = np.random.default_rng(intervals.SEED).integers(0, 2, (RESAMPLES, units))
    # Sums of products, not `@`: how BLAS adds depends on the machine.
    found = np.abs((np.asarray(sums) * (1 - 2 * flipped)).sum(axis=1))
    seen = abs(math.fsum(sums))
    as_far = int((found >= seen - ROUNDING * max(1.0, seen)).sum())
    return as_far / len(found) if exact else (as_far + 1) / (len(found) + 1)


def mcnemar(pairs: Sequence[Pair]) -> float | None:
    """Exact two-sided McNemar test; None where a task has several trials or a common family."""
    single = all(pair.trials_a == pair.trials_b == 1 for pair in pairs)
    if not single or len({pair.family for pair in pairs}) < len(pairs):
        return None
    a_alone = sum(pair.difference > 0 for pair in pairs)
    b_alone = sum(pair.difference < 0 for pair in pairs)
    if a_alone + b_alone == 0:
        return 1.0
    apart = a_alone + b_alone
    tail = sum(math.comb(apart, few) for few in range(min(a_alone, b_alone) + 1))
    return min(1.0, tail / (1 << (apart - 1)))


def detectable(pairs: Sequence[Pair]) -> float | None:
    """The difference that a two-sided test at 5 % finds with a power of 80 %, given this spread."""
    found = intervals.clustered_t(
        [pair.difference for pair in pairs], [pair.family for pair in pairs]
    )
    if found is None or found.high <= found.low:
        return None
    freedom = found.units - 1
    critical = intervals.student_quantile((1 + LEVEL) / 2, freedom)
    error = (found.high - found.low) / 2 / critical
    return (critical + intervals.student_quantile(POWER, freedom)) * error


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust for several tests (Holm 1979); those that could not be done do not count."""
    order = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, index) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p))
        adjusted[index] = largest
    return adjusted
