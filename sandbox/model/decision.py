"""What a policy says of an action, and what an approver answers."""

import re
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from sandbox.model import glob
from sandbox.model.base import Record


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


class Answer(Record):
    """What an approver says. A grant is for one scope and one command."""

    approved: bool
    reason: str = ""
    fallback_command: str | None = None
    lasts: Literal["once", "run"] = "once"


class ActionMatch(Record):
    """What a rule matches; all fields that are given must hold."""

    action: str | None = None
    """A glob over the action's name."""
    command: str | None = None
    """A regular expression, found anywhere in the shell line of `run_command` or `run_tests`."""
    path: str | None = None
    """A glob over the path that a file action names, relative to the worktree."""

    @field_validator("action", "path")
    @classmethod
    def _is_glob(cls, pattern: str | None) -> str | None:
        return pattern if pattern is None else glob.check(pattern)

    @field_validator("command")
    @classmethod
    def _is_expression(cls, pattern: str | None) -> str | None:
        return _expression(pattern)


class PolicyRule(Record):
    """One rule; the first that matches decides."""

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    match: ActionMatch
    decision: Outcome
    scope: str | None = None
    """The permission to ask for; only and always with `ask`."""
    reason: str = Field(min_length=1)
    """Shown to the agent when it is asked or denied."""

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


class Policy(Record):
    """A task's rules and its scripted approver. What no answer matches is denied."""

    rules: tuple[PolicyRule, ...] = ()
    approver: tuple[ScriptedAnswer, ...] = ()


def _expression(pattern: str | None) -> str | None:
    try:
        re.compile(pattern or "")
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    return pattern
