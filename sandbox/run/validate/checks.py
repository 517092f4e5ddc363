"""What is proved of a task, and what came of it."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Literal

from pydantic import computed_field

from sandbox.model.base import Record
from sandbox.model.errors import SandboxError


class Check(StrEnum):
    """What is proved; `docs/validate.md` says how."""

    GRAPH = "graph"
    """The world graph has no findings."""
    FACTS = "facts"
    """All that is graded is stated where the agent can read it."""
    PINS = "pins"
    """All that the image is made of is pinned."""
    LEAKS = "leaks"
    """The image holds nothing that only grading may see."""
    INPUTS = "inputs"
    """What shows the defect is drawn from so many inputs that a table of answers is hopeless."""
    TESTS = "tests"
    """The hidden tests fail where they should without a candidate, and pass with the oracle's."""
    ORACLE = "oracle"
    """Each oracle passes."""
    AGENTS = "agents"
    """Who does nothing, everything, anything, or only answers, fails."""
    VIOLATORS = "violators"
    """Who breaks one rule fails for it and for nothing else."""
    REFUSED = "refused"
    """Who was seen to fail, and is kept with the task, fails for the same reason."""
    REWORDINGS = "rewordings"
    """Who does the same in other words ends in the same way."""
    EDGES = "edges"
    """Every edge of the graph is answered as the graph says."""
    EXPLOITS = "exploits"
    """No known trick passes."""
    GRADINGS = "gradings"
    """The same candidate gives the same outcomes and verdict each time."""
    HUNKS = "hunks"
    """Without any part of its change the oracle fails."""
    RESET = "reset"
    """Each session starts from the same state."""
    ORDER = "order"
    """Verdicts do not depend on what runs before or beside."""


Status = Literal["ok", "bad", "error", "skipped"]


class Row(Record):
    """One thing that was looked at."""

    task: str
    check: Check
    what: str
    """The agent, the hunk, the session: whatever was tried."""
    expected: str
    """What has to come of it, in words."""
    result: str = ""
    """What came of it: a verdict, counts, a digest."""
    run: str | None = None
    """The stored run behind it, where there is one."""
    tests_of: str | None = None
    """The run whose test outcomes it has, where its candidate was the same and not tested anew."""
    status: Status
    """`skipped` where it does not apply to the task, `error` where the machinery failed."""
    notes: tuple[str, ...] = ()
    """Why it does not hold, or does not apply, or what else is worth knowing."""

    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def holds(self) -> bool:
        """Whether nothing speaks against the task."""
        return self.status in ("ok", "skipped")


def attempted(task: str, check: Check, what: str, make: Callable[[], Row]) -> Row:
    """Make a row; trouble with the machinery becomes one, too."""
    try:
        return make()
    except SandboxError as error:
        return Row(
            task=task,
            check=check,
            what=what,
            expected="can be looked at",
            status="error",
            notes=(error.message,),
        )


def row_status(problems: Sequence[str]) -> Status:
    """Give the status of something that has these problems."""
    return "bad" if problems else "ok"
