"""Evidence, and what the graders make of it."""

from typing import Literal

from pydantic import JsonValue

from sandbox.model.base import Record
from sandbox.model.change import ChangeSet
from sandbox.model.event import Entry
from sandbox.model.verdict import Verdict

TestOutcome = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]


class CaseOutcome(Record):
    """What came of one case."""

    outcome: Literal["passed", "failed"]
    calls: int
    """Calls that were made, the one that failed included."""
    problem: str = ""
    """The first call that failed: what was given, what came, what had to come."""


class CaseReport(Record):
    """What the cases did in the fresh session; the expected values never left the host."""

    seed: str
    """What the inputs were drawn from: the same seed draws the same inputs."""
    outcomes: dict[str, CaseOutcome]
    """By the case's id."""
    problem: str = ""
    """Why the outcomes are not to be relied on; empty where they are."""
    tampering: bool = False
    """Whether the problem is one that only an attempt at forgery explains."""


class TestRun(Record):
    """What came of one test file."""

    __test__ = False

    passed: int = 0
    failed: int = 0
    problem: str = ""
    """Why there are no counts; empty where there are."""


class OwnTests(Record):
    """A test file that the agent had to write, run twice."""

    without_fix: TestRun
    with_fix: TestRun


class TestReport(Record):
    """What the hidden tests did in the fresh session."""

    __test__ = False

    outcomes: dict[str, TestOutcome]
    """By test id."""
    problem: str = ""
    """Why the outcomes are not to be relied on; empty where they are."""
    tampering: bool = False
    """Whether the problem is one that only forged outcomes explain."""
    log: str = ""
    """The end of what the runner printed, for people; nothing is read from it."""
    cases: CaseReport | None = None
    """None where the task has no cases, or where the tests were not to be run."""
    own: dict[str, OwnTests] | None = None
    """By path: the tests that the agent had to write; None where they were not run."""
    shared_with: str = ""
    """The run whose outcomes these are, its candidate being the same; empty where tests ran."""


class Evidence(Record):
    """All that the graders see of a run."""

    run: str
    task: str
    task_digest: str
    entries: tuple[Entry, ...]
    chain_problem: str = ""
    """What is wrong with the trace's hash chain; empty where it is whole."""
    changes: ChangeSet | None
    """None where they could not be taken."""
    tests: TestReport | None
    """None where they could not be run."""
    final: dict[str, JsonValue] | None
    """None where the agent gave no final answer."""
    reports: dict[str, str] = {}
    """What crossed of the files that have to say what was done, by path."""
    refused: dict[str, str] = {}
    """Changed paths that did not cross into grading, and why."""


class Reason(Record):
    """Why a grader says what it says, in a sentence that names an event, a path or a test."""

    message: str
    event: int | None = None
    """The sequence number of an event of the trace."""
    path: str | None = None
    test: str | None = None
    rule: str | None = None
    soft: bool = False
    """Reported, and no reason for the verdict."""


class Grade(Record):
    """One grader's verdict."""

    grader: str
    verdict: Verdict
    reasons: tuple[Reason, ...]
    """At least one that is not soft where the verdict is not `passed`."""
    facts: dict[str, JsonValue] = {}
    """Counts that a report shows, e.g. how many tests passed."""


class RunGrade(Record):
    """The verdict on a run: passed only where every grader says so."""

    run: str
    task: str
    task_digest: str
    verdict: Verdict
    grades: tuple[Grade, ...]
    problem: str = ""
    """What failed, where the verdict is `error`."""
