"""Cases: calls of what a candidate offers, and what each has to give. A file beside the task."""

import re
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from sandbox.model.base import Record
from sandbox.model.draw import Input

SUBJECT_INPUTS = {
    "function": {"arguments", "keywords"},
    "command": {"arguments", "stdin"},
    "http": {"method", "path", "headers", "body", "json"},
    "mcp": {"tool", "arguments"},
    "file": {"pattern"},
    "script": {"lines"},
}
"""By kind of subject: what a call may say."""


class FunctionSubject(Record):
    """A function that a small program of the grader's calls in the candidate's container."""

    kind: Literal["function"]
    language: Literal["python", "javascript"] = "python"
    name: str = Field(pattern=r"^[^:\s]+:[A-Za-z_$][\w$.]*$")
    """`module:attribute`; in JavaScript what `import()` takes, e.g. `./index.js:default`."""


class CommandSubject(Record):
    """A program that is run once for each call, in the worktree."""

    kind: Literal["command"]
    argv: tuple[str, ...] = Field(min_length=1)
    """The call's `arguments` follow."""


class HttpSubject(Record):
    """A server that is started once and answers at a port of the loopback."""

    kind: Literal["http"]
    argv: tuple[str, ...] = Field(min_length=1)
    port: int = Field(ge=1024, le=65535)


class McpSubject(Record):
    """An MCP server that speaks over standard input and output."""

    kind: Literal["mcp"]
    argv: tuple[str, ...] = Field(min_length=1)


class FileSubject(Record):
    """A file of the candidate, which the host reads: none of the candidate's code runs."""

    kind: Literal["file"]
    path: str = Field(min_length=1)
    """Relative to the worktree."""


class ScriptSubject(Record):
    """Python in a process of its own, in the worktree, where lines are evaluated one by one.

    `module:attribute(...)` names what is imported, `_0` what the first line has given.
    """

    kind: Literal["script"]


Subject = Annotated[
    FunctionSubject | CommandSubject | HttpSubject | McpSubject | FileSubject | ScriptSubject,
    Field(discriminator="kind"),
]


class Raises(Record):
    """The error that a function has to raise."""

    type: str
    """Its class, with the module before it where that is not `builtins`."""
    message: str | None = None
    """A regular expression that is found in its text."""

    @field_validator("message")
    @classmethod
    def _is_a_pattern(cls, message: str | None) -> str | None:
        try:
            re.compile(message or "")
        except re.error as error:
            raise ValueError(f"is not a valid regular expression: {error}") from error
        return message


class Expect(Record):
    """What a call has to give: exactly one of these.

    Values are compared exactly, types included. Of all but functions only the fields that are
    named count, e.g. `exit_code` and `stdout` of a command.
    """

    value: Input = None
    reference: str | None = None
    """A function of the task's reference file, called with the same input on the host."""
    raises: Raises | None = None
    undamaged: Literal[True] | None = None
    """Of a script: what its lines give where the patch of `tests.cases.undamaged` is applied."""

    @model_validator(mode="after")
    def _is_one(self) -> "Expect":
        if len(self.model_fields_set) != 1:
            raise ValueError("needs exactly one of value, reference, raises and undamaged")
        return self


class Row(Record):
    """One call of a table."""

    input: dict[str, Input] = {}
    expect: Expect


class Case(Record):
    """Some calls of one subject that belong together; it passes where all of them do."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    subject: str
    input: dict[str, Input] = {}
    expect: Expect | None = None
    times: int = Field(default=1, ge=1, le=10_000)
    """How many inputs are drawn."""
    table: tuple[Row, ...] = ()
    """Calls with an expectation each, beside or instead of the drawn ones."""
    seconds: float = Field(default=20, gt=0)
    """How long one call may take, by the host's clock: long enough that a busy machine is not taken
    for a call that never ends."""
    finite: str = ""
    """Why there cannot be many inputs, e.g. where the work itself is a table."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """All calls, still to be drawn."""
        drawn = () if self.expect is None else (Row(input=self.input, expect=self.expect),)
        return self.table + drawn * self.times

    @model_validator(mode="after")
    def _calls_something(self) -> "Case":
        if self.expect is None and not self.table:
            raise ValueError("needs `expect` or a `table`")
        if self.expect is None and self.model_fields_set & {"input", "times"}:
            raise ValueError("`input` and `times` go with `expect`")
        return self


class CaseFile(Record):
    """The file that `tests.cases.file` names."""

    subjects: dict[str, Subject] = Field(min_length=1)
    cases: tuple[Case, ...]

    @field_validator("cases")
    @classmethod
    def _fit_their_subjects(cls, cases: tuple[Case, ...], info: ValidationInfo) -> tuple[Case, ...]:
        subjects = info.data.get("subjects")
        if subjects is None:
            return cases
        for case in cases:
            if case.subject not in subjects:
                raise ValueError(f"{case.id}: {case.subject} is not one of the subjects")
            _check_rows(case, subjects[case.subject].kind)
        if len({case.id for case in cases}) != len(cases):
            raise ValueError("two cases have the same id")
        return cases


def _check_rows(case: Case, kind: str) -> None:
    known = SUBJECT_INPUTS[kind]
    for row in case.rows:
        if unknown := row.input.keys() - known:
            names = ", ".join(sorted(unknown))
            raise ValueError(f"{case.id}: a {kind} takes {', '.join(sorted(known))}, not {names}")
        if row.expect.raises is not None and kind != "function":
            raise ValueError(f"{case.id}: only a function raises")
        if (row.expect.undamaged is None) is (kind == "script"):
            raise ValueError(f"{case.id}: `undamaged` is for scripts, and scripts are for it")
