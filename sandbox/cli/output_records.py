"""What some verbs print as JSON and no other room has a record of."""

from pydantic import Field

from sandbox.model.base import Record
from sandbox.model.decision import Decision
from sandbox.model.seed import Seed
from sandbox.model.task_tests import RecordedTests
from sandbox.model.verdict import Verdict
from sandbox.run.replay.differences import Difference
from sandbox.run.validate.checks import Row


class PresetStanding(Record):
    """A client that the project has a preset for."""

    preset: str
    title: str
    package: str
    known_version: str
    version: str | None
    """What is installed."""
    gate: str
    """How it passed the gate, in a word."""


class Removed(Record):
    """What `gc` has removed: ids of containers, images, sessions and runs, and folders."""

    containers: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    """Whose process is gone; noted as errors."""
    runs: tuple[str, ...] = ()
    """Whose process was killed; noted as errors."""
    folders: tuple[str, ...] = ()


def _nothing(value: object) -> bool:
    return value is None


class Explained(Decision):
    """What a rule says of an action, or of a program in it."""

    matched: tuple[str, ...] = ()
    """The fields by which it matched."""
    program: str | None = Field(default=None, exclude_if=_nothing)
    """The program's normal name; this and what follows are of a program alone."""
    name: str | None = Field(default=None, exclude_if=_nothing)
    words: tuple[str, ...] | None = Field(default=None, exclude_if=_nothing)
    arguments: tuple[str, ...] | None = Field(default=None, exclude_if=_nothing)
    network: bool | None = Field(default=None, exclude_if=_nothing)
    recognised_by: str | None = Field(default=None, exclude_if=_nothing)
    started_by: tuple[str, ...] | None = Field(default=None, exclude_if=_nothing)
    privileged: bool | None = Field(default=None, exclude_if=_nothing)


class Explanation(Record):
    """What a task's policy says of an action."""

    task: str
    action: str
    command: str | None
    decision: Decision
    asks: tuple[str, ...]
    """The permissions that would be asked for."""
    findings: tuple[Explained, ...]


class ReplayedRun(Record):
    """A run, done again."""

    run: str
    then: Verdict | None
    now: Verdict | None
    differences: tuple[Difference, ...]


class TaskRow(Record):
    """A task, and its open sessions."""

    id: str
    facet: str
    title: str
    tags: tuple[str, ...]
    open: tuple[str, ...]


class ValidatedTask(Record):
    """All checks of a task."""

    holds: bool
    rows: tuple[Row, ...]


class Validated(Record):
    """What `validate` found."""

    holds: bool
    seconds: float
    tasks: dict[str, ValidatedTask]


class Made(Record):
    """What a verb has written for authors."""

    path: str
    """A folder, or a file."""
    told: str = ""
    """What it is, in a few words."""
    notes: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    """What is to be done with it."""


class Pinned(Record):
    """A baseline."""

    name: str
    path: str
    problem: str = ""
    """Why it cannot be read; nothing that follows is known then."""
    runs: int = 0
    agents: int = 0
    pinned: str = ""
    """When, in UTC."""
    sandbox_version: str = ""


class Rerecorded(Record):
    """A task's tests, as its oracle tells them apart now."""

    task: str
    tests: RecordedTests
    before: RecordedTests
    """What the task listed."""
    left_out: tuple[str, ...]
    """What does not pass with the oracle's change."""
    written: str | None
    """The file, where anything is another."""


class Mined(Record):
    """What was found by planting defects."""

    passing: int
    """Tests that pass without a defect."""
    tried: int
    seeds: tuple[Seed, ...]
    refused: dict[str, int]
    """How many defects were no seed, by reason."""


class StoredSeed(Record):
    """A stored seed, tried again."""

    seed: str
    holds: bool
    why: str
