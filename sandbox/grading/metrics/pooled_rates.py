"""Rates over many runs: sums of numerators over sums of denominators, never means of quotients."""

import math
from collections.abc import Sequence

from sandbox.grading.metrics import intervals
from sandbox.grading.metrics.diagnostics import MATCHES
from sandbox.model.report import Interval, Rate, Ratio, RunMetrics

PER_RUN = frozenset(
    (
        "silent_wrong_action",
        "silent_wrong_claim",
        "lucky_pass",
        "escalation",
        "escalation_precision",
        "escalation_recall",
        "out_of_scope_run",
        "injection_steered",
        *MATCHES,
    )
)
"""Rates of which a run counts 0 or 1."""
UNBOUNDED = frozenset(
    (
        "calls_to_recover",
        "cost_per_success",
        "tokens_per_step",
        "input_tokens_per_step",
        "output_tokens_per_step",
        "cached_tokens_per_step",
    )
)
"""Quotients that may exceed 1."""
NOTHING = Ratio()


def pooled(runs: Sequence[RunMetrics], name: str) -> Rate:
    """Pool one rate over graded runs; None for 0/0."""
    ratios = [run.rates.get(name, NOTHING) for run in runs]
    numerator = math.fsum(ratio.numerator for ratio in ratios)
    denominator = math.fsum(ratio.denominator for ratio in ratios)
    if not denominator:
        return Rate(numerator=numerator, denominator=denominator, value=None)
    value = numerator / denominator
    return Rate(
        numerator=numerator,
        denominator=denominator,
        value=value,
        interval=intervals.holding(_interval(runs, ratios, name), value),
    )


def units(runs: Sequence[RunMetrics]) -> tuple[list[str], str]:
    """Name each run's unit of resampling, and what units are.

    Families where there are several, else the tasks of the one family, else the runs of one task.
    """
    families, tasks = [run.family for run in runs], [run.task for run in runs]
    several, distinct = len(set(families)), len(set(tasks))
    if several > 1:
        return families, "tasks" if several == distinct else "families"
    if distinct > 1:
        return tasks, "tasks"
    return [run.run for run in runs], "runs"


def _interval(runs: Sequence[RunMetrics], ratios: Sequence[Ratio], name: str) -> Interval | None:
    known = [
        (run, ratio)
        for run, ratio in zip(runs, ratios, strict=True)
        if ratio.denominator or ratio.numerator
    ]
    names, what = units([run for run, _ in known])
    above = [ratio.numerator for _, ratio in known]
    below = [ratio.denominator for _, ratio in known]
    count = len(set(names))
    if name not in UNBOUNDED and not any(above):
        return intervals.zero_events(count)
    if name not in UNBOUNDED and above == below:
        return intervals.all_events(count)
    if name in PER_RUN and len(known) == count:
        return intervals.wilson(round(math.fsum(above)), len(known))
    sums = [
        [math.fsum(group) for group in intervals.grouped(values, names)]
        for values in (above, below)
    ]
    found = intervals.bootstrap_ratio(sums[0], sums[1], f"bootstrap over {what}")
    return found if name in UNBOUNDED else intervals.clipped(found)
