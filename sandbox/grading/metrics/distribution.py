"""Distributions of sizes with their tails: what the worst runs take, not what the mean one does."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sandbox.grading.metrics import intervals
from sandbox.model.report import Distribution, Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

WORST = 0.05
CHUNK = 100
"""Resamples that are weighed at a time, to bound memory."""


def distribution(values: Sequence[float], units: Sequence[str]) -> Distribution:
    """Describe sizes; `units` names what is resampled, by value: nothing for no intervals."""
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
    order = np.argsort(-np.asarray(values, dtype=np.float64), kind="stable")
    worst_first = np.asarray(values, dtype=np.float64)[order]
    places = {name: place for place, name in enumerate(names)}
    owner = np.asarray([places[unit] for unit in units])[order]
    weights = intervals.resampled(len(names))
    drawn = (weights * np.bincount(owner)).sum(axis=1, keepdims=True)
    beyond = drawn - np.ceil(np.round(0.95 * drawn, 9))
    count = np.maximum(1, np.ceil(np.round(WORST * drawn, 9)))
    found = []
    for start in range(0, len(weights), CHUNK):
        part = slice(start, start + CHUNK)
        times = _top(weights[part], owner, np.maximum(beyond[part] + 1, count[part]))
        total = times.cumsum(axis=1)
        p95 = worst_first[(total > beyond[part]).argmax(axis=1)]
        inside = np.clip(count[part] - (total - times), 0, times)
        sums = (inside * worst_first[: times.shape[1]]).sum(axis=1)
        found.append(np.column_stack((p95, sums / count[part][:, 0])))
    estimates = np.vstack(found)
    method = "bootstrap over tasks"
    p95_interval, worst = (
        intervals.percentile(estimates[:, column], len(names), method) for column in (0, 1)
    )
    return p95_interval, worst


def _top(weights: "Floats", owner: "NDArray[np.intp]", wanted: "Floats") -> "Floats":
    """How often each of the worst values is drawn, (resamples, values): as many as are wanted."""
    taken = math.ceil(2 * WORST * len(owner)) + 1
    while True:
        times = weights[:, owner[:taken]]
        if taken >= len(owner) or (times.sum(axis=1, keepdims=True) >= wanted).all():
            return times
        taken *= 2
