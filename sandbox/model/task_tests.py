"""What the agent of a task can run, and the tests and cases that it is graded by."""

from collections import Counter
from typing import Literal

from pydantic import Field, model_validator

from sandbox.model.base import Record


class Build(Record):
    """What is built of the candidate before its cases are called."""

    files: str
    """A folder of the grader's own sources, e.g. a program that calls the candidate's library."""
    argv: tuple[str, ...] = Field(min_length=1)
    """Run once in the worktree, without a shell. `{files}` stands for where the folder's files are
    laid, `{built}` for a folder to write into, which subjects name alike."""
    seconds: float = Field(default=60, gt=0)


class Cases(Record):
    """Calls of the candidate's from outside: tier 1."""

    file: str
    """A file of cases, see `sandbox.model.case.CaseFile`."""
    reference: str | None = None
    """A Python file whose functions give expected values; it runs on the host alone."""
    undamaged: str | None = Field(default=None, exclude_if=lambda it: it is None)
    """A patch that makes the worktree what it is without the defect: what scripts give there before
    a candidate is laid is what they have to give."""
    build: Build | None = None
    fail_to_pass: tuple[str, ...] = ()
    """Ids of the cases that fail before the fix."""
    pass_to_pass: tuple[str, ...] = ()
    """Ids of the cases that pass before and after."""

    @property
    def expected(self) -> tuple[str, ...]:
        """All of them."""
        return self.fail_to_pass + self.pass_to_pass


def _each_once(expected: tuple[str, ...]) -> None:
    """Refuse an id that stands twice: it would have to fail and to pass, or say nothing more."""
    twice = next((one for one, times in Counter(expected).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"{twice} stands twice in fail_to_pass and pass_to_pass")


class TestScript(Record):
    """A test script of another format, run as its author meant: as root, beside the candidate.

    What it says is believed, so the verdict is only as good as the script.
    """

    __test__ = False

    entry: str
    """The file of `hidden` that is run by bash, which is laid into `/tests`."""
    result: Literal["reward", "summary"]
    """`reward`: a number in `/logs/verifier/reward.txt`, or numbers in `reward.json`, 1 for solved
    (Harbor). `summary`: lines `PASSED` and `FAILED` of a short test summary (Terminal-Bench)."""
    variables: dict[str, str] = {}
    """What it finds in its environment besides."""


class Tests(Record):
    """What the agent can run, and what it is graded by."""

    __test__ = False

    framework: Literal[
        "pytest", "tape", "node:test", "vitest", "go test", "cargo test", "unity", "make", "script"
    ]
    """`make` tells no single tests: such a task is graded by cases. `script` is an author's own."""
    sanitized: bool = Field(default=False, exclude_if=lambda it: not it)
    """Whether tests of `unity` run under gcc's sanitizers: one fails that misuses memory, or leaves
    some behind."""
    script: TestScript | None = Field(default=None, exclude_if=lambda it: it is None)
    """For the framework `script`: what is run, and how it tells its result."""
    command: str
    """The shell line of `run_tests`."""
    aliases: dict[str, str] = {}
    """Shell lines that run tests by another name, and the command of the framework behind each."""
    hidden: str | None = None
    """A folder of test files, laid into the fresh worktree after the candidate."""
    recorded: str | None = None
    """A file that holds the two lists which follow."""
    fail_to_pass: tuple[str, ...] = ()
    """Test ids that fail before the fix."""
    pass_to_pass: tuple[str, ...] = ()
    """Test ids that pass before and after."""
    cases: Cases | None = None
    own: tuple[str, ...] = ()
    """Test files that the agent has to write: they fail without its fix and pass with it."""
    timeout_seconds: float = Field(default=120, gt=0)
    """How long all test files together may take on a machine that has nothing else to do."""

    @model_validator(mode="after")
    def _has_its_script(self) -> "Tests":
        if (self.script is not None) is not (self.framework == "script"):
            raise ValueError("`script` and the framework `script` belong together")
        if self.script is not None and self.hidden is None:
            raise ValueError("the framework `script` needs `hidden`, where the script lies")
        return self

    @model_validator(mode="after")
    def _is_sanitized_where_that_can_be(self) -> "Tests":
        if self.sanitized and self.framework != "unity":
            raise ValueError("`sanitized` is for the framework `unity`")
        return self

    @model_validator(mode="after")
    def _stand_in_one_place(self) -> "Tests":
        if self.recorded is not None and (self.fail_to_pass or self.pass_to_pass):
            raise ValueError("test ids stand here and in `recorded`: keep one of the two")
        return self

    @model_validator(mode="after")
    def _name_each_once(self) -> "Tests":
        _each_once(self.fail_to_pass + self.pass_to_pass)
        return self

    @model_validator(mode="after")
    def _tell_the_defect(self) -> "Tests":
        found = self.fail_to_pass or self.recorded or (self.cases and self.cases.fail_to_pass)
        if not found:
            raise ValueError("nothing fails before the fix: fail_to_pass is empty")
        return self

    @model_validator(mode="after")
    def _make_runs_no_single_file(self) -> "Tests":
        if self.framework == "make" and self.own:
            raise ValueError("make runs no single file: `own` cannot be tried")
        return self

    @model_validator(mode="after")
    def _make_has_no_ids(self) -> "Tests":
        listed = self.recorded or self.fail_to_pass or self.pass_to_pass
        if self.framework == "make" and (self.hidden or listed):
            raise ValueError("make tells no single tests: grade by cases alone")
        return self


class RecordedTests(Record):
    """The file of test ids: what `sandbox record` wrote."""

    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _name_each_once(self) -> "RecordedTests":
        _each_once(self.fail_to_pass + self.pass_to_pass)
        return self
