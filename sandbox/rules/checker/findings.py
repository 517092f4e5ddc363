"""What the checker says of a task."""

from typing import Literal

from sandbox.model.base import Record

FindingKind = Literal[
    "bound",
    "no_accepted_path",
    "oracle",
    "answer",
    "shortcut",
    "never_broken",
    "unreachable",
    "dead_end",
    "milestone",
    "words",
]


class Finding(Record):
    """Something that is wrong with a task."""

    kind: FindingKind
    message: str
    path: tuple[str, ...] = ()
    """The edges that show it."""


class Witness(Record):
    """Whether a hard rule can be broken, and how."""

    rule: str
    path: tuple[str, ...] | None = None
    """The shortest path that breaks this rule and no other rule; None where no path does."""
    outcome_right: bool = False
    """Whether the outcome is right at the end of it, so that the rule alone refuses the run."""
    implied_by: tuple[str, ...] = ()
    """Where it is never broken alone: the rules of which one is always broken with it."""


class Difficulty(Record):
    """Figures of a task; `docs/world-graph.md` defines them."""

    length: int | None
    """Edges of the shortest accepted path."""
    actions: int | None
    """Actions on it."""
    branches: int
    """States in which there is more than one thing to do."""
    violations: int
    """Edges after which the outcome can be right, but not without a hard rule that is broken."""
    short_traps: int
    """Edges after which no run passes, and one can be over sooner than the shortest accepted."""
    only_retry: int
    """States in which trying again is the only right choice."""
    only_fallback: int
    only_stop: int


class Pattern(Record):
    """What a graph is but for names and order."""

    digest: str
    """SHA-256 as hexadecimal."""
    exact: bool
    """Whether two graphs with this digest are the same; False where only their refinement is."""


Mark = Literal["accepted", "forbidden", "trap", "idle"]


class Report(Record):
    """All that the checker says of one task."""

    task: str
    sound: bool
    """No findings."""
    complete: bool
    """False where the bound was hit: what is not reached within it is not known."""
    states: int
    """Of the product of graph and monitors."""
    transitions: int
    shortest: tuple[str, ...] | None
    """The edges of a shortest accepted path."""
    oracle: tuple[str, ...] | None
    """The edges that the oracle walks along; None where it leaves the graph."""
    witnesses: tuple[Witness, ...]
    findings: tuple[Finding, ...]
    difficulty: Difficulty
    pattern: Pattern
    marks: dict[str, Mark]
    """By edge, for drawings: on an accepted path, breaking a rule, or leading astray."""
    breaks: dict[str, tuple[str, ...]]
    """By edge that is forbidden: the rules that are broken, at once or by the end."""
