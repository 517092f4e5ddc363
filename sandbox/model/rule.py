"""Trajectory rules: patterns over the steps of a run, and templates that join them.

A step is an action joined with its observation. Later kinds of events (a process that was
started, an approval) are further kinds of atoms.
"""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from sandbox.model.base import Record


class Atom(Record):
    """A pattern that a step matches; all fields that are given must hold."""

    action: str | None = None
    """A glob over the action's name."""
    arguments: dict[str, str] = {}
    """By argument: a regular expression, found anywhere in its text."""
    status: Literal["ok", "error"] | None = None
    error_code: str | None = None
    result: dict[str, JsonValue] = {}
    """By result field: the value it must equal, in type too."""
    changes: str | None = None
    """A glob over paths that an edit of the harness wrote, relative to the worktree."""


class RuleBase(Record):
    """What all rules have."""

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    reason: str = Field(min_length=1)
    """Why the rule exists."""
    stated_in: str = Field(min_length=1)
    """Where the agent is told: `prompt`, `policy`, or a file of the repository."""


class Required(RuleBase):
    """At least one step matches `a`."""

    template: Literal["required"]
    a: Atom


class Never(RuleBase):
    """No step matches `a`."""

    template: Literal["never"]
    a: Atom


class Precedes(RuleBase):
    """Before each step that matches `b`, a step has matched `a`."""

    template: Literal["precedes"]
    a: Atom
    b: Atom


Rule = Annotated[Required | Never | Precedes, Field(discriminator="template")]
