"""Whether stored runs reach what a gate asks of them: by the bound of an interval, not by luck."""

import difflib
from collections.abc import Sequence
from fnmatch import fnmatchcase

from sandbox.grading import reports
from sandbox.grading.dimensions import DIMENSIONS, TAG, values
from sandbox.grading.metrics import intervals
from sandbox.grading.metrics.distribution import distribution
from sandbox.grading.metrics.pooled_rates import pooled, units
from sandbox.grading.metrics.run_metrics import NAMES
from sandbox.model.errors import UsageError
from sandbox.model.gate import PASSING, SHARES, TAIL, Condition, Finding, Gate
from sandbox.model.report import Interval, RunMetrics
from sandbox.model.verdict import Verdict

Measured = tuple[float | None, Interval | None]

SLICED = [name for name in DIMENSIONS if name in Condition.model_fields]
"""The dimensions of reports that a condition may take a part of."""


def judge(gate: Gate, runs: Sequence[RunMetrics]) -> list[Finding]:
    """Look at each condition, agent by agent; UsageError for metrics that are not there."""
    unknown = [
        told for number, each in enumerate(gate.conditions, 1) if (told := _mistake(number, each))
    ]
    if unknown:
        raise UsageError("\n".join(unknown), "docs/metrics.md lists all of them.")
    found = []
    for number, condition in enumerate(gate.conditions, 1):
        sliced = [run for run in runs if _is_of(run, condition)]
        agents = sorted({run.agent for run in sliced})
        if not agents:
            known = ", ".join(sorted({run.agent for run in runs}))
            nobody = f"No run is of {_slice(condition)}; agents are: {known}."
            found.append(
                Finding(condition=number, agent="", holds=False, value=None, reason=nobody)
            )
        for agent in agents:
            own = [run for run in sliced if run.agent == agent]
            found.append(_judged(number, condition, agent, own))
    return found


def _is_of(run: RunMetrics, condition: Condition) -> bool:
    return (
        run.verdict is not None
        and (run.agent == condition.agent or fnmatchcase(run.agent, condition.agent))
        and all(
            any(fnmatchcase(value, glob) for value in values(run, dimension))
            for dimension, glob in _globs(condition)
        )
    )


def _globs(condition: Condition) -> list[tuple[str, str]]:
    """Name the dimensions in which a condition takes a part, each with its glob."""
    given = [(dimension, getattr(condition, dimension)) for dimension in SLICED]
    named = [(dimension, glob) for dimension, glob in given if glob != "*"]
    return named + [(f"{TAG}{key}", glob) for key, glob in condition.tags.items()]


def _judged(number: int, condition: Condition, agent: str, runs: Sequence[RunMetrics]) -> Finding:
    shared = condition.metric in SHARES
    counted = len(runs) if shared else sum(run.graded for run in runs)
    if counted < condition.runs:
        value, interval = None, None
        reason = f"{counted} runs count for it, where {condition.runs} are wanted"
    else:
        try:
            value, interval = _measured(condition.metric, runs)
            reason = _shortfall(condition, value, interval)
        except UsageError as error:  # a k of more than the trials there are
            value, interval, reason = None, None, error.message
    return Finding(
        condition=number,
        agent=agent,
        holds=not reason,
        value=value,
        interval=interval,
        runs=counted,
        left_out=0 if shared else len(runs) - counted,
        reason=reason,
    )


def _shortfall(condition: Condition, value: float | None, interval: Interval | None) -> str:
    """Say why a threshold is not reached; empty where it is."""
    if value is None:
        return "there is nothing to measure: 0 of 0"
    what, low, high = "it", value, value
    if condition.by == "bound":
        if interval is None:
            return "its runs are too few, or too much alike, for an interval"
        what, low, high = "the bound of its interval", interval.low, interval.high
    if condition.at_least is not None and low < condition.at_least:
        return f"{what} is {low:.3g}, below {condition.at_least:g}"
    if condition.at_most is not None and high > condition.at_most:
        return f"{what} is {high:.3g}, above {condition.at_most:g}"
    return ""


def _measured(metric: str, runs: Sequence[RunMetrics]) -> Measured:
    if found := PASSING.fullmatch(metric):
        level = reports.reliability_of(runs, int(found[2]))
        if level is None:
            return None, None
        estimate = level.pass_at_k if found[1] == "@" else level.pass_hat_k
        return estimate.value, estimate.interval
    if metric in SHARES:
        verdicts = {"errors": Verdict.ERROR, "invalid": Verdict.INVALID}
        count = sum(
            run.crashed if metric == "crashed" else run.verdict is verdicts[metric] for run in runs
        )
        return count / len(runs), intervals.wilson(count, len(runs))
    graded = [run for run in runs if run.graded]
    if metric in NAMES:
        rate = pooled(graded, metric)
        return rate.value, rate.interval
    size, quantile = metric.split(".")
    return _tail(graded, size, quantile)


def _tail(runs: Sequence[RunMetrics], size: str, quantile: str) -> Measured:
    known = [run for run in runs if size in run.sizes]
    if not known:
        return None, None
    names, _ = units(known)
    found = distribution([run.sizes[size] for run in known], names)
    bounds = {"p95": found.p95_interval, "worst": found.worst_interval}
    return float(getattr(found, quantile)), bounds.get(quantile)


def _mistake(number: int, condition: Condition) -> str:
    """Say what is wrong with a condition's metric; empty where it is known."""
    metric = condition.metric
    if PASSING.fullmatch(metric) or metric in NAMES or metric in SHARES:
        return ""
    if (tail := TAIL.fullmatch(metric)) and tail[1] in reports.SIZES:
        return ""
    sizes = [f"{size}.p95" for size in reports.SIZES]
    near = difflib.get_close_matches(metric, [*NAMES, *SHARES, *sizes, "pass^1", "pass@1"], 3)
    meant = f" Near it are: {', '.join(near)}." if near else ""
    return f"Condition {number}: there is no metric {metric!r}.{meant}"


def _slice(condition: Condition) -> str:
    agents = [("agent", condition.agent)] if condition.agent != "*" else []
    return ", ".join(f"{name} {glob}" for name, glob in agents + _globs(condition)) or "anything"
