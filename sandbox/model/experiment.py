"""An experiment: which runs there are to be, of whom, and which of them are over."""

import hashlib
import json

from sandbox.model.allowance import UNBOUNDED, Allowance
from sandbox.model.base import Record
from sandbox.model.job import Job
from sandbox.model.run import Mode
from sandbox.model.verdict import Verdict


class PlannedAgent(Record):
    """An agent as the command line described it."""

    agent: str
    protocol: str | None = None
    model: str | None = None
    base_url: str | None = None
    prices: str | None = None
    """A path."""
    mode: Mode = "raw"
    name: str | None = None
    tag: tuple[str, ...] = ()
    inside: bool = False
    inside_files: str | None = None
    """A path."""
    model_url: str | None = None
    model_key_variable: str | None = None


class Plan(Record):
    """What an experiment consists of."""

    created: str
    """UTC, ISO 8601."""
    folder: str
    """Where it was begun: agents that are named by a path are looked for there."""
    agents: tuple[PlannedAgent, ...]
    approver: str
    user: str = "script"
    """Who understands what the tasks' users are asked."""
    user_url: str | None = None
    keep: bool = False
    allowance: Allowance = UNBOUNDED
    cells: tuple[Job, ...]

    def is_like(self, other: "Plan") -> bool:
        """Whether both have the same tasks, agents and trials run in the same way."""
        return (
            self.agents == other.agents
            and (self.approver, self.user) == (other.approver, other.user)
            and self.allowance == other.allowance
            and self.cells == other.cells
        )

    @property
    def digest(self) -> str:
        """SHA-256 of what would be run: the same for the same tasks, agents and trials."""
        fields = self.model_dump(mode="json", include={"agents", "approver", "cells"})
        if self.user != "script":
            fields["user"] = self.user
        if self.allowance != UNBOUNDED:
            fields["allowance"] = self.allowance.model_dump(mode="json")
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


class Line(Record):
    """A line of an experiment's journal."""

    cell: int
    """Its place in the plan, from 0."""
    run: str
    verdict: Verdict | None = None
    """None where the run begins."""
    crashed: bool = False
