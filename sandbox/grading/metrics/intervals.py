"""Intervals of confidence, with tasks (or their families) as the units that are resampled.

Sources: Wilson 1927; Cameron and Miller 2015 for the clustered t; Efron and Tibshirani 1993 for the
studentized bootstrap (12.5) and the percentile one (13.3), whose levels are widened for few units
as Hesterberg 2015 ("What Teachers Should Know About the Bootstrap") proposes. All random numbers
come from one fixed seed.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

from sandbox.model.report import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVEL = 0.95
RESAMPLES = 2000
SEED = 20240229
TINY = 1e-12
"""Below this a standard error is but rounding."""


def wilson(passed: int, trials: int) -> Interval:
    """Wilson's interval of a proportion of independent trials."""
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    share, spread = passed / trials, z * z / trials
    middle = (share + spread / 2) / (1 + spread)
    half = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    low = 0.0 if passed == 0 else middle - half
    high = 1.0 if passed == trials else middle + half
    return Interval(low=low, high=high, level=LEVEL, method="wilson", units=trials)


def zero_events(units: int) -> Interval:
    """The exact upper bound where nothing was seen in so many units: 1 - .05^(1/N)."""
    high = 1 - (1 - LEVEL) ** (1 / units)
    return Interval(low=0, high=high, level=LEVEL, method="exact, no event", units=units)


def all_events(units: int) -> Interval:
    """The exact lower bound where every unit was an event: the mirror of `zero_events`."""
    low = (1 - LEVEL) ** (1 / units)
    return Interval(low=low, high=1, level=LEVEL, method="exact, all events", units=units)


def clustered_t(values: Sequence[float], families: Sequence[str]) -> Interval | None:
    """T over task means, clustered by family; None for fewer than two families."""
    mean = math.fsum(values) / len(values)
    sums = [math.fsum(v - mean for v in group) for group in grouped(values, families)]
    count = len(sums)
    if count < 2:
        return None
    variance = count / (count - 1) * math.fsum(each * each for each in sums) / len(values) ** 2
    half = student_quantile((1 + LEVEL) / 2, count - 1) * math.sqrt(variance)
    shared = count < len(values)
    method = "t over tasks, clustered by family" if shared else "t over tasks"
    return Interval(low=mean - half, high=mean + half, level=LEVEL, method=method, units=count)


def bootstrap_ratio(
    numerators: Sequence[float], denominators: Sequence[float], method: str
) -> Interval | None:
    """Studentized bootstrap of a ratio of sums over units; None where they are too few or alike.

    The percentile one covers less: .92 where this one covers .95, 15 units of unequal size.
    """
    import numpy as np

    count = len(numerators)
    if count < 2:
        return None
    weights = resampled(count)
    above, below = (np.asarray(each, dtype=np.float64) for each in (numerators, denominators))
    value, error = _ratio(np.ones((1, count)), above, below)
    values, errors = _ratio(weights, above, below)
    defined = errors > 0
    if not (error[0] > 0 and defined.any()):
        return None
    pivots = (values[defined] - value[0]) / errors[defined]
    tail = (1 - LEVEL) / 2
    low, high = value[0] - error[0] * np.quantile(pivots, (1 - tail, tail))
    if not high > low:
        return None
    return Interval(low=float(low), high=float(high), level=LEVEL, method=method, units=count)


def _ratio(weights: "Floats", above: "Floats", below: "Floats") -> tuple["Floats", "Floats"]:
    """Ratios of weighted sums and their standard errors, each (resamples,); 0 where undefined."""
    import numpy as np

    # Sums of products, not `@`: how BLAS adds depends on the machine.
    total = (weights * below).sum(axis=1)
    safe = np.where(total > 0, total, 1)
    value = (weights * above).sum(axis=1) / safe
    residuals = above - value[:, None] * below
    correction = len(above) / (len(above) - 1)
    error = np.sqrt(correction * (weights * residuals**2).sum(axis=1)) / safe
    return value, np.where((total > 0) & (error > TINY), error, 0)


def percentile(estimates: "Floats", units: int, method: str) -> Interval:
    """Take the interval of bootstrapped estimates, widened for few units."""
    import numpy as np

    tail = (1 - LEVEL) / 2
    wide = math.sqrt(units / (units - 1)) * student_quantile(tail, units - 1)
    outer = NormalDist().cdf(wide)
    low, high = np.quantile(estimates, (outer, 1 - outer))
    return Interval(low=float(low), high=float(high), level=LEVEL, method=method, units=units)


@lru_cache(maxsize=1024)
def student_quantile(share: float, freedom: int) -> float:
    """The value below which Student's t with this freedom stays in this share of cases.

    Its square is beta distributed (Abramowitz and Stegun 26.5.27), and the root is bracketed.
    """
    import mpmath  # type: ignore[import-untyped]

    if share < 0.5:
        return -student_quantile(1 - share, freedom)

    def excess(t: float) -> float:
        inside = freedom / (freedom + t * t)
        beyond = mpmath.betainc(freedom / 2, 0.5, 0, inside, regularized=True)
        return float(beyond / 2 - (1 - share))

    high = 1.0
    while excess(high) > 0:
        high *= 2
    return float(mpmath.findroot(excess, (0.0, high), solver="illinois", tol=1e-24))


def holding(interval: Interval | None, estimate: float) -> Interval | None:
    """Widen an interval to hold the estimate beside which it stands.

    One that was carried over from another estimator, or resampled from few units, may miss it;
    wider it covers no less.
    """
    if interval is None:
        return None
    ends = {"low": min(interval.low, estimate), "high": max(interval.high, estimate)}
    return interval.model_copy(update=ends)


def clipped(interval: Interval | None) -> Interval | None:
    """Keep an interval of a probability within 0 and 1."""
    if interval is None:
        return None
    return interval.model_copy(
        update={"low": max(0.0, interval.low), "high": min(1.0, interval.high)}
    )


def grouped(values: Sequence[float], families: Sequence[str]) -> list[list[float]]:
    """Put values of one family together, families in order of their names."""
    groups: dict[str, list[float]] = {}
    for family, value in zip(families, values, strict=True):
        groups.setdefault(family, []).append(value)
    return [groups[family] for family in sorted(groups)]


@lru_cache(maxsize=8)
def resampled(units: int) -> "Floats":
    """How often each unit is drawn, (resamples, units); the same numbers each time."""
    import numpy as np

    generator = np.random.default_rng(SEED)
    shares = np.full(units, 1 / units)
    return generator.multinomial(units, shares, size=RESAMPLES).astype(np.float64)
