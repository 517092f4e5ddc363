"""pass@k and pass^k, unbiased, over the trials of each task.

pass@k: Chen et al. 2021 ("Evaluating Large Language Models Trained on Code"). pass^k: Yao et al.
2024 ("tau-bench"). Both are undefined for k > n and refused; p^k is not a substitute, it is biased.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sandbox.grading.metrics import intervals
from sandbox.model.errors import UsageError
from sandbox.model.report import Estimate, Interval, Reliability


@dataclass(frozen=True, slots=True)
class Trials:
    """One agent's runs of one task."""

    task: str
    family: str
    passed: int
    graded: int
    errors: int = 0
    """Runs that the machinery ended."""


def pass_at(k: int, trials: int, passed: int) -> float:
    """Probability that at least one of k passes: 1 - C(n-c, k)/C(n, k)."""
    _check(k, trials)
    return 1 - math.comb(trials - passed, k) / math.comb(trials, k)


def pass_hat(k: int, trials: int, passed: int) -> float:
    """Probability that all of k pass: C(c, k)/C(n, k)."""
    _check(k, trials)
    return math.comb(passed, k) / math.comb(trials, k)


def reliability(tasks: Sequence[Trials], k: int) -> Reliability:
    """Estimate both over tasks that have graded runs; UsageError for k > n of any task."""
    graded = [task for task in tasks if task.graded]
    if not graded:
        raise UsageError("No run was graded, so nothing can be said of pass@k.")
    for task in graded:
        _check(k, task.graded, task.task)
    at, hat = _estimate(pass_at, graded, tasks, k), _estimate(pass_hat, graded, tasks, k)
    first = [pass_hat(1, task.graded, task.passed) for task in graded]
    return Reliability(
        k=k,
        trials=min(task.graded for task in graded),
        pass_at_k=at,
        pass_hat_k=hat,
        gap=_mean(first) - hat.value,
    )


def levels(trials: int) -> list[int]:
    """Powers of two up to the fewest trials of a task, and that number."""
    powers = (1 << power for power in range(trials.bit_length()))
    return sorted({*powers, trials}) if trials else []


def _estimate(
    formula: Callable[[int, int, int], float],
    graded: Sequence[Trials],
    tasks: Sequence[Trials],
    k: int,
) -> Estimate:
    values = [formula(k, task.graded, task.passed) for task in graded]
    with_errors = [task for task in tasks if task.graded + task.errors >= k]
    fail, best = (
        _mean(
            [
                formula(k, task.graded + task.errors, task.passed + (task.errors if passes else 0))
                for task in with_errors
            ]
        )
        for passes in (False, True)
    )
    interval = _interval(formula, values, graded, k)
    value = _mean(values)
    held = intervals.holding(interval, value)
    return Estimate(value=value, interval=held, if_errors_fail=fail, if_errors_pass=best)


def _interval(
    formula: Callable[[int, int, int], float],
    values: Sequence[float],
    tasks: Sequence[Trials],
    k: int,
) -> Interval | None:
    """Choose the interval as `docs/metrics.md` says."""
    passed, trials = sum(t.passed for t in tasks), sum(t.graded for t in tasks)
    families = [task.family for task in tasks]
    units = len(set(families))
    if len(tasks) == 1:
        return _of_one_task(formula, passed, trials, k)
    if units == 1:
        return None
    if not any(values) or all(value == 1 for value in values):
        return intervals.all_events(units) if any(values) else intervals.zero_events(units)
    if units == len(tasks) and all(task.graded == 1 for task in tasks):
        return intervals.wilson(passed, trials)
    return intervals.clipped(intervals.clustered_t(values, families))


def _of_one_task(
    formula: Callable[[int, int, int], float], passed: int, trials: int, k: int
) -> Interval:
    """Carry the interval of the one probability over to k trials, which is monotone in it."""
    if passed == 0:
        one = intervals.zero_events(trials)
    elif passed == trials:
        one = intervals.all_events(trials)
    else:
        one = intervals.wilson(passed, trials)
    at = formula is pass_at
    low, high = (1 - (1 - p) ** k if at else p**k for p in (one.low, one.high))
    return one.model_copy(update={"low": low, "high": high})


def _check(k: int, trials: int, task: str = "") -> None:
    if k < 1:
        raise UsageError(f"k is {k}; it has to be at least 1.")
    if k > trials:
        of = f" of {task}" if task else ""
        raise UsageError(
            f"k is {k}, but there are only {trials} graded trials{of}: pass@{k} and pass^{k}"
            " cannot be estimated without bias.",
            f"Run more trials, or ask for k up to {trials}.",
        )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
