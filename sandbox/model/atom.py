"""Atoms: patterns over what happens in a run, and variables that carry a value on.

A step is an action joined with its observation, or another event by itself: a process that was
started, a question to the approver, an answer.
"""

import re
from typing import Literal, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from sandbox.model.base import Record
from sandbox.model.change import Owner
from sandbox.model.glob import check

VARIABLE = r"[a-z][a-z_]*"
_USE = re.compile(rf"\{{({VARIABLE})\}}")
_SOURCE = re.compile(
    r"(?P<field>(?:arguments|result)(?:\.[A-Za-z0-9_-]+)+|changes)(?:\s+/(?P<pattern>.+)/)?",
    re.DOTALL,
)

_OR = re.compile(r"\s+or\s+(?=(?:arguments|result)\.|changes\b)")

StepKind = Literal[
    "action",
    "exec",
    "approval_asked",
    "approval_decided",
    "fault_injected",
    "changed",
    "shown",
    "read",
    "tested",
    "committed",
    "ref_moved",
    "stashed",
    "index_changed",
    "refused",
    "world_moved",
    "user_said",
    "facts_lost",
]
Number = int | float


FACTS = frozenset({"changed", "shown", "tested"})
"""Kinds of facts that actions told themselves before there were facts."""


class Predicate(Record):
    """What a value must be; all that is given must hold. A value that is absent meets nothing."""

    equals: JsonValue = None
    """In type too: 1, 1.0 and true are three values."""
    one_of: tuple[JsonValue, ...] | None = None
    more_than: Number | None = None
    at_least: Number | None = None
    less_than: Number | None = None
    at_most: Number | None = None
    matches: str | None = None
    """A regular expression, found anywhere in a text."""
    like: str | None = None
    """A glob that a whole text matches."""
    has: JsonValue = None
    """A value that a list holds."""
    lacks: JsonValue = None
    """A value that a list does not hold."""
    several: tuple[str, ...] | None = Field(default=None, exclude_if=lambda it: it is None)
    """Globs: a list holds two texts or more that one of them matches."""
    exists: bool | None = None
    """Whether the field is there at all; `false` is met by an absent one."""

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("a predicate that says nothing holds for nothing")
        if self.exists is False and len(self.model_fields_set) > 1:
            raise ValueError("what does not exist cannot be anything else")
        if self.matches is not None:
            compiled(self.matches)
        globs = () if self.like is None else (self.like,)
        for glob in (*globs, *(self.several or ())):
            check(glob)
        return self


class Atom(Record):
    """A pattern that a step matches; all fields that are given must hold.

    `{x}` in a pattern stands for the value of a variable that another atom of the rule binds.
    """

    kind: StepKind | None = None
    """What kind of step; the fields of one that is no action are its arguments. Where neither this
    nor `action` is given, `tests` means a test run however it was started, `changes` and `owner` a
    change whoever made it, and `reads` what an agent was shown, whatever printed it."""
    action: str | None = None
    """A glob over the action's name."""
    arguments: dict[str, str] = {}
    """By argument: a regular expression, found anywhere in its text."""
    argv: tuple[str | tuple[str, ...], ...] | None = None
    """Globs over the words of a command, `**` for any number of words, a list where one of
    several will do. Of a shell line, any of its commands; a program is named without its folder."""
    tests: tuple[str, ...] | None = None
    """A test run that covers these paths (`.` is the whole suite), however it is spelt."""
    status: Literal["ok", "error"] | None = None
    error_code: str | None = None
    """A glob: `approval_*` is both what is not approved yet and what was denied."""
    exit_code: int | None = None
    """Of a command, a test run or a process."""
    result: dict[str, JsonValue] = {}
    """By result field: the value it must equal, in type too."""
    where: dict[str, Predicate] = {}
    """By field, with dots (`result.failed`, `arguments.fields.count`): what its value must be."""
    changes: str | tuple[str, ...] | None = None
    """A glob over paths that were changed, relative to the worktree, or several of which any will
    do; with `action`, by an edit."""
    owner: Owner | None = None
    """Whose a written path is, by the task's scope; with `changes`, of the same path."""
    reads: str | None = None
    """A glob over the path that was read, relative to the worktree."""
    bind: dict[str, str] = {}
    """By variable: the field that gives its value, and perhaps which part of the text:
    `result.stdout /commit ([0-9a-f]+)/`, or several of these with `or` between them. Every match is
    a value; values compare as text."""

    @field_validator("arguments")
    @classmethod
    def _are_expressions(cls, patterns: dict[str, str]) -> dict[str, str]:
        for pattern in patterns.values():
            compiled(pattern)
        return patterns

    @field_validator("reads")
    @classmethod
    def _is_glob(cls, pattern: str | None) -> str | None:
        return None if pattern is None else check(pattern)

    @field_validator("changes")
    @classmethod
    def _are_globs(cls, given: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        if given == ():
            raise ValueError("a list of globs has at least one")
        for pattern in _several(given):
            check(pattern)
        return given

    @field_validator("where")
    @classmethod
    def _are_fields(cls, predicates: dict[str, Predicate]) -> dict[str, Predicate]:
        for name in predicates:
            field(name)
        return predicates

    @field_validator("bind")
    @classmethod
    def _are_sources(cls, bindings: dict[str, str]) -> dict[str, str]:
        for name, text in bindings.items():
            if re.fullmatch(VARIABLE, name) is None:
                raise ValueError(f"{name!r} is not a valid variable: use small letters and `_`")
            sources(text)
        return bindings

    @property
    def about(self) -> StepKind:
        """The kind of step that it matches, given or not."""
        if self.kind is not None:
            return self.kind
        if self.action is None:
            if self.tests is not None:
                return "tested"
            if self.changes is not None or self.owner is not None:
                return "changed"
            if self.reads is not None:
                return "shown"
        return "action"

    @property
    def changed(self) -> tuple[str, ...]:
        """The globs of `changes`."""
        return _several(self.changes)

    @property
    def uses(self) -> frozenset[str]:
        """Variables that stand in its patterns; `{3}` of an expression is none."""
        return frozenset(_USE.findall(self.model_dump_json(exclude={"bind"}, exclude_unset=True)))


def _several(given: str | tuple[str, ...] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else given


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a regular expression; ValueError where it is none."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a valid regular expression: {error}") from error


def sources(text: str) -> tuple[tuple[tuple[str, ...], str | None], ...]:
    """Split sources with `or` between them; ValueError where one is none."""
    return tuple(map(source, _OR.split(text)))


def source(text: str) -> tuple[tuple[str, ...], str | None]:
    """Split `result.stdout /expression/` into the field's names and the expression."""
    found = _SOURCE.fullmatch(text)
    if found is None:
        raise ValueError(
            f"{text!r} is not a valid source: write a field like `result.stdout`, then `/pattern/`"
        )
    pattern = found["pattern"]
    if pattern is not None:
        compiled(pattern)
    return tuple(found["field"].split(".")), pattern


def field(name: str) -> str:
    """Give a field's name back; ValueError where it is none."""
    if source(name)[1] is not None or name == "changes":
        raise ValueError(
            f"{name!r} is not a valid field: write `arguments.<name>` or `result.<name>`"
        )
    return name


class Milestone(Record):
    """A part of the work; progress is the weight of those that are reached."""

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    reached: Atom
    undone: Atom | None = None
    """A step that takes it back; it can be reached again."""
    weight: float = Field(default=1, gt=0)

    @model_validator(mode="after")
    def _has_no_variables(self) -> Self:
        if any(atom.bind or atom.uses for atom in (self.reached, self.undone) if atom):
            raise ValueError("a milestone has no variables")
        return self
