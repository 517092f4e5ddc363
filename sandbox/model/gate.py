"""A gate: what stored runs have to reach, slice by slice, and what was found of them."""

import re
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from sandbox.model.base import Record
from sandbox.model.report import Interval

PASSING = re.compile(r"pass([@^])([1-9][0-9]{0,5})")
TAIL = re.compile(r"([a-z_]+)\.(p50|p90|p95|p99|maximum|worst)")
SHARES = ("crashed", "errors", "invalid")


class Condition(Record):
    """One threshold on one metric of one slice of runs."""

    metric: str
    """`pass@K`, `pass^K`, a rate's name, `SIZE.p95` and the like, or the share of runs that
    `crashed`, were `invalid` or ended by `errors`."""
    at_least: float | None = None
    at_most: float | None = None
    by: Literal["bound", "estimate"] = "bound"
    """What has to reach it: the nearer bound of the metric's interval, or the estimate alone."""
    agent: str = "*"
    """A glob over the agents that reports name."""
    task: str = "*"
    facet: str = "*"
    level: str = "*"
    operator: str = "*"
    """Such as `stale-record.*`; a task without operators is of none."""
    category: str = "*"
    family: str = "*"
    mode: str = "*"
    tags: dict[str, str] = {}
    """Globs over the values of `--tag KEY=VALUE`, by key."""
    runs: int = Field(default=1, ge=1)
    """How many runs there have to be that count for it: graded ones, but for shares of all."""

    @field_validator("metric")
    @classmethod
    def _is_known(cls, metric: str) -> str:
        # Rates and sizes are checked where they are known, by whoever computes them.
        if not re.fullmatch(r"[a-z_]+|pass[@^][1-9][0-9]{0,5}|[a-z_]+\.[a-z0-9]+", metric):
            raise ValueError(f"{metric!r} is not the name of a metric")
        return metric

    @model_validator(mode="after")
    def _has_one_threshold(self) -> Self:
        if (self.at_least is None) is (self.at_most is None):
            raise ValueError("give one of `at_least` and `at_most`")
        return self


class Gate(Record):
    """All conditions, of which each has to hold."""

    conditions: tuple[Condition, ...]

    @field_validator("conditions")
    @classmethod
    def _are_some(cls, conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
        if not conditions:
            raise ValueError("there has to be one at least, or everything passes")
        return conditions


class Finding(Record):
    """What was found of one condition, for one agent that it is about."""

    condition: int
    """Its place in the file, from 1."""
    agent: str
    """Empty where no run is of its slice."""
    holds: bool
    value: float | None
    interval: Interval | None = None
    runs: int = 0
    left_out: int = 0
    """Runs of the slice that crashed or were ended by errors, and count for no rate."""
    reason: str
