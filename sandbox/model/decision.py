"""What a policy says of an action, and what an approver answers."""

import re
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from sandbox.model import glob
from sandbox.model.base import Record
from sandbox.model.coverage import Coverage


class Outcome(StrEnum):
    """The three things that a rule can decide."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Decision(Record):
    """What the first rule that matches says."""

    outcome: Outcome
    rule: str | None = None
    """The rule's id, None where no rule matches (which allows)."""
    scope: str | None = None
    """The permission that is needed, where it asks."""
    reason: str = ""


class Question(Record):
    """What an approver is asked."""

    scope: str
    command: str
    reason: str = ""
    started_by: tuple[str, ...] = ()
    """Of a process: the programs that it descends from, the nearest first."""
    effect: str = ""
    """What it would change or run, as far as that is known: a difference, or the program's file."""


class Answer(Record):
    """What an approver says. A grant is for one scope and one command."""

    approved: bool
    reason: str = ""
    fallback_command: str | None = None
    lasts: Literal["once", "run"] = "once"


def _several(value: object) -> object:
    """Take one word for a list of it; what is neither is left to be refused."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


Words = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    BeforeValidator(_several),
    Field(min_length=1),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
            ]
        }
    ),
]
"""One word, or several of which any will do."""

Example = str | tuple[str, ...]
"""A shell line, or the words of one program."""

PATH = "{path}"
"""At the end of a word of `arguments`: the rest of the word is a file that is written."""

ANY = "**"
"""Among `arguments`: any number of words."""


class Pattern(Record):
    """What a rule is about; all fields that are given must hold.

    With `program`, `network`, `privileged` or `started_by` it is about processes, else about
    actions.
    """

    action: Words | None = None
    """Globs over the action's name; of a process, over the name of the action that started it."""
    command: str | None = None
    """A regular expression, found anywhere in the shell line of `run_command` or `run_tests`."""
    program: Words | None = None
    """Globs over a program's name, by whichever name it was started; or over its absolute path."""
    arguments: tuple[Words, ...] | None = None
    """Globs over the program's words in order, `*` for any text, `**` for any number of words."""
    path: Words | None = None
    """Globs over the file that an action names, or that stands at `{path}` in `arguments`."""
    cwd: Words | None = None
    """Globs over the working directory; `.` is the worktree, relative ones start there."""
    network: bool | None = None
    """Whether the program wants the network, by what `programs.yaml` says of it."""
    changing: bool | None = None
    """With `true`, calls that only read are left out, by what `reading.yaml` says of them."""
    privileged: bool | None = None
    """Whether it is to run as root, by `sudo`; without a rule that says `true` nothing is."""
    started_by: Words | None = None
    """Globs over the names of the programs that it descends from, any of them."""
    tool: Words | None = None
    """Globs over `server/tool` of `call_tool`."""

    @field_validator("action", "path", "cwd", "tool")
    @classmethod
    def _are_globs(cls, patterns: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for pattern in patterns or ():
            if pattern != ".":
                glob.check(pattern)
        return patterns

    @field_validator("program", "started_by")
    @classmethod
    def _are_programs(cls, patterns: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for pattern in patterns or ():
            if "/" in pattern and not pattern.startswith("/"):
                raise ValueError(f"{pattern!r} is neither a name nor an absolute path")
            glob.check(pattern)
        return patterns

    @field_validator("command")
    @classmethod
    def _is_expression(cls, pattern: str | None) -> str | None:
        return _expression(pattern)

    @field_validator("arguments")
    @classmethod
    def _are_words(cls, places: tuple[Words, ...] | None) -> tuple[Words, ...] | None:
        for words in places or ():
            if ANY in words and len(words) > 1:
                raise ValueError(f"`{ANY}` stands alone, not among alternatives")
            if any(PATH in word.removesuffix(PATH) for word in words):
                raise ValueError(f"`{PATH}` stands once, at the end of a word")
        return places

    @model_validator(mode="after")
    def _fields_go_together(self) -> Self:
        places = any(word.endswith(PATH) for words in self.arguments or () for word in words)
        if self.arguments is not None and self.program is None:
            raise ValueError("`arguments` go with a `program`; `*` is any")
        if self.changing is not None and self.program is None:
            raise ValueError("`changing` goes with a `program`")
        if self.about_processes and self.command is not None:
            raise ValueError("`command` is the text of a line, by which no process is known")
        if self.about_processes and self.tool is not None:
            raise ValueError("`tool` is of an action, by which no process is known")
        if places and self.path is None:
            raise ValueError(f"`{PATH}` needs `path`, what the file must be")
        if self.about_processes and self.path is not None and not places:
            raise ValueError(f"`path` of a process needs `{PATH}` in `arguments`, where it stands")
        return self

    @property
    def about_processes(self) -> bool:
        """Whether processes are decided by it, not actions."""
        fields = (self.program, self.network, self.privileged, self.started_by)
        return any(field is not None for field in fields)


class PolicyRule(Record):
    """One rule; the first that matches decides."""

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    when: Pattern
    decision: Outcome
    scope: str | None = None
    """The permission to ask for; only and always with `ask`."""
    reason: str = Field(min_length=1)
    """Shown to the agent when it is asked or denied."""
    match: tuple[Example, ...] = ()
    """What it must match; checked when the rule is loaded."""
    not_match: tuple[Example, ...] = ()
    """What it must not match."""

    @model_validator(mode="after")
    def _scope_goes_with_ask(self) -> Self:
        if self.decision is Outcome.ASK and not self.scope:
            raise ValueError("`ask` needs a scope, the permission to ask for")
        if self.decision is not Outcome.ASK and self.scope is not None:
            raise ValueError(f"a scope goes only with `ask`, not with `{self.decision}`")
        return self


class ScriptedAnswer(Record):
    """One answer of a task's scripted approver; the first that matches is given."""

    scope: str
    command: str | None = None
    """A regular expression, found anywhere in the command; any command where it is left out."""
    answer: Answer
    times: int | None = Field(default=None, ge=1)
    """How often it may be given; without end where it is left out."""

    @field_validator("command")
    @classmethod
    def _is_expression(cls, pattern: str | None) -> str | None:
        return _expression(pattern)


class Answers(Record):
    """Answers of a scripted approver. What none of them matches is denied."""

    approver: tuple[ScriptedAnswer, ...] = ()


class Policy(Answers):
    """A task's rules and its scripted approver."""

    rules: tuple[PolicyRule, ...] = ()
    requires: Coverage = "top-level"
    """What must be seen of the agent's processes for a run to begin; `top-level` always is."""

    @field_validator("rules")
    @classmethod
    def _ids_differ(cls, rules: tuple[PolicyRule, ...]) -> tuple[PolicyRule, ...]:
        for place, rule in enumerate(rules):
            if any(rule.id == other.id for other in rules[:place]):
                raise ValueError(f"two rules have the id {rule.id!r}")
        return rules

    @property
    def about_processes(self) -> bool:
        """Whether a process can be asked or denied, or be root."""
        return any(
            rule.when.privileged
            or (rule.when.about_processes and rule.decision is not Outcome.ALLOW)
            for rule in self.rules
        )


def _expression(pattern: str | None) -> str | None:
    try:
        re.compile(pattern or "")
    except re.error as error:
        raise ValueError(f"is not a valid regular expression: {error}") from None
    return pattern
