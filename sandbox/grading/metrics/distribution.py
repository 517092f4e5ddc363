"""Distributions of sizes with their tails: what the worst runs take, not what the mean one does."""

import math
from collections.abc import Sequence

from sandbox.grading.metrics import intervals
from sandbox.model.report import Distribution, Interval

WORST = 0.05
CHUNK = 100
"""Resamples that are weighed at a time, to bound memory."""


def distribution(values: Sequence[float], units: Sequence[str]) -> Distribution:
    """Describe sizes; `units` names what is resampled, by value."""
    ordered = sorted(values)
    tails = _tails(values, units)
    return Distribution(
        runs=len(ordered),
        p50=quantile(ordered, 0.5),
        p90=quantile(ordered, 0.9),
        p95=quantile(ordered, 0.95),
        p99=quantile(ordered, 0.99),
        maximum=ordered[-1],
        worst=worst_mean(ordered),
        p95_interval=intervals.holding(tails[0], quantile(ordered, 0.95)),
        worst_interval=intervals.holding(tails[1], worst_mean(ordered)),
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """The smallest observed value that at least this share of all does not exceed."""
    return ordered[max(0, math.ceil(round(share * len(ordered), 9)) - 1)]


def worst_mean(ordered: Sequence[float]) -> float:
    """The mean of the worst 5 %, at least one."""
    count = max(1, math.ceil(round(WORST * len(ordered), 9)))
    return math.fsum(ordered[-count:]) / count


def _tails(
    values: Sequence[float], units: Sequence[str]
) -> tuple[Interval | None, Interval | None]:
    """Bootstrap the 95th percentile and the mean of the worst 5 % over units."""
    import numpy as np

    names = sorted(set(units))
    if len(names) < 2:
        return None, None
    order = np.argsort(np.asarray(values, dtype=np.float64), kind="stable")
    ordered = np.asarray(values, dtype=np.float64)[order]
    owner = np.asarray([names.index(unit) for unit in units])[order]
    weights = intervals.resampled(len(names))
    found = []
    for start in range(0, len(weights), CHUNK):
        drawn = weights[start : start + CHUNK][:, owner]
        total = drawn.cumsum(axis=1)
        last = total[:, -1:]
        p95 = ordered[(total >= np.ceil(np.round(0.95 * last, 9))).argmax(axis=1)]
        count = np.maximum(1, np.ceil(np.round(WORST * last, 9)))
        inside = np.clip(total - (last - count), 0, drawn)
        found.append(np.column_stack((p95, (inside * ordered).sum(axis=1) / count[:, 0])))
    estimates = np.vstack(found)
    method = "bootstrap over tasks"
    p95_interval, worst = (
        intervals.percentile(estimates[:, column], len(names), method) for column in (0, 1)
    )
    return p95_interval, worst
