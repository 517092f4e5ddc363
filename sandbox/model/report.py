"""What runs add up to: the metrics of one run, of an agent's runs, and of two agents compared."""

from sandbox.model.base import Record
from sandbox.model.coverage import Coverage
from sandbox.model.how import How
from sandbox.model.verdict import Verdict

SCHEMA_VERSION = 1


class Ratio(Record):
    """A rate of one run; 0/0 where nothing that it counts could happen."""

    numerator: float = 0
    denominator: float = 0

    @property
    def value(self) -> float | None:
        """The quotient, None for a denominator of 0."""
        return self.numerator / self.denominator if self.denominator else None


class RunMetrics(Record):
    """One run, measured. `docs/metrics.md` defines each rate."""

    run: str
    task: str
    """Its version too, where runs of several versions stand in one report."""
    task_digest: str
    family: str
    """The template that the task is a variant of; the task itself where it is none."""
    facet: str | None
    """None where the task is not there any more."""
    agent: str
    """Its label with what stood beside it; its version too, where runs of several stand in one
    report."""
    acting: str = ""
    """The same without its version."""
    label: str = ""
    """Its label alone."""
    mode: str = ""
    """`raw`, `minimal`, `product` (a client with a harness of its own) or `oracle`."""
    tags: dict[str, str] = {}
    version: str = ""
    """What tells the agent from another one of its label, where that is known."""
    verdict: Verdict | None
    """None where the run has not ended."""
    how: How | None = None
    """How it ended, where that is known."""
    cause: str = ""
    """What it is counted by where it did not pass: the grader, and the rule, that objected first;
    `crashed`; or its verdict."""
    why: str = ""
    """The first reason against it, in a sentence."""
    coverage: Coverage | None = None
    """Which of the agent's processes were seen; None where its container did not start."""
    rates: dict[str, Ratio] = {}
    """By name; empty where there is no trace that can be trusted."""
    sizes: dict[str, float] = {}
    """Steps, seconds, and tokens and cost where they are reported."""

    @property
    def graded(self) -> bool:
        """Whether it says something about what the agent judges and does."""
        judged = (Verdict.PASSED, Verdict.FAILED, Verdict.INVALID)
        return self.verdict in judged and not self.crashed

    @property
    def crashed(self) -> bool:
        """Whether its agent broke off without an answer, and what it left is not right."""
        return self.how == "crashed" and self.verdict is Verdict.FAILED

    @property
    def passed(self) -> bool:
        """Whether it counts as a success."""
        return self.verdict is Verdict.PASSED


class Interval(Record):
    """An interval of confidence."""

    low: float
    high: float
    level: float
    method: str
    units: int
    """How many independent units (families, tasks or runs) it rests on."""


class Rate(Record):
    """A ratio of sums over runs."""

    numerator: float
    denominator: float
    value: float | None
    """None for 0/0."""
    interval: Interval | None = None
    """None where there are too few units to tell."""


class Estimate(Record):
    """A mean over tasks."""

    value: float
    interval: Interval | None
    if_errors_fail: float
    """With every infrastructure error scored as a failure."""
    if_errors_pass: float
    """With every infrastructure error scored as a pass."""


class Reliability(Record):
    """What k trials of a task come to."""

    k: int
    trials: int
    """The fewest trials of a task, n; the estimates are refused for k > n."""
    pass_at_k: Estimate
    """At least one of k passes."""
    pass_hat_k: Estimate
    """All of k pass."""
    gap: float
    """pass^1 - pass^k."""


class Distribution(Record):
    """Sizes of runs; the quantiles are sizes that were observed."""

    runs: int
    p50: float
    p90: float
    p95: float
    p99: float
    maximum: float
    worst: float
    """The mean of the worst 5 %, at least one run."""
    p95_interval: Interval | None
    worst_interval: Interval | None


class TaskTrials(Record):
    """An agent's runs of one task."""

    task: str
    family: str
    facet: str | None
    passed: int
    graded: int
    invalid: int
    crashed: int = 0
    """Runs whose agent broke off, which are not graded ones."""
    errors: int
    """Runs that the machinery ended."""
    unfinished: int


class AgentReport(Record):
    """All runs of one agent."""

    agent: str
    passed: int
    graded: int
    invalid: int
    crashed: int = 0
    errors: int
    unfinished: int
    ends: dict[How, int] = {}
    """How many runs ended how."""
    causes: dict[str, int] = {}
    """How many runs went wrong by what first, the most frequent first."""
    coverage: dict[Coverage, int] = {}
    """How many runs saw how much of the agent's processes."""
    tasks: tuple[TaskTrials, ...]
    reliability: tuple[Reliability, ...]
    """For k = 1, 2, 4, ... up to the fewest trials, and that number itself."""
    rates: dict[str, Rate]
    sizes: dict[str, Distribution]
    """Only what runs have reported."""


class Slice(Record):
    """An agent's runs that share a value of a dimension."""

    dimension: str
    value: str
    agent: str
    passed: int
    graded: int
    crashed: int
    errors: int
    estimate: Estimate | None
    """Of the share that passes; None where no run was graded."""
    causes: dict[str, int] = {}


class Report(Record):
    """What `sandbox report --json` prints."""

    schema_version: int = SCHEMA_VERSION
    agents: tuple[AgentReport, ...]
    slices: tuple[Slice, ...] = ()
    """By the dimensions that were asked for."""
    runs: tuple[RunMetrics, ...]


class Difference(Record):
    """Two agents on the same tasks, A minus B."""

    tasks: int
    units: int
    """Families, which are what is resampled."""
    mean_a: float
    mean_b: float
    difference: float
    interval: Interval | None
    """Paired bootstrap; None for fewer than two units."""
    p_value: float | None
    """Of the sign-flip permutation test, two-sided; None for fewer than two units."""
    p_adjusted: float | None = None
    """After Holm, over the facets; None for all tasks together."""
    mcnemar: float | None = None
    """Exact, only where each task has one trial of each agent and none shares its family."""
    detectable: float | None
    """The smallest true difference that is found with a power of 80 %; None where no task
    tells the agents apart."""


class Comparison(Record):
    """What `sandbox compare --json` prints."""

    schema_version: int = SCHEMA_VERSION
    agent_a: str
    agent_b: str
    only_a: tuple[str, ...]
    """Tasks with graded runs of A alone, which are left out."""
    only_b: tuple[str, ...]
    errors_a: int
    errors_b: int
    whole: Difference
    facets: dict[str, Difference]
