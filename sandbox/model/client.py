"""A client that others made: what was found of it, and whether it passed the safety gate."""

from typing import Literal

from sandbox.model.base import Record


class GateCheck(Record):
    """One thing that a client must do, or not do."""

    name: Literal["works", "tools", "built_in", "denied", "cancelled", "ended"]
    passed: bool
    message: str
    """What was seen."""


class GateReport(Record):
    """What a client did when a scripted model drove it."""

    preset: str
    preset_digest: str
    """SHA-256 of the preset: a report is of one preset only."""
    version: str
    """The client's own."""
    model: str
    """The name of the model that was played; some clients choose their tools by it."""
    checked: str
    """When, UTC, ISO 8601."""
    seconds: float
    checks: tuple[GateCheck, ...]

    @property
    def passed(self) -> bool:
        """Whether all is well."""
        return all(check.passed for check in self.checks)


class ClientRecord(Record):
    """A client as a run found it."""

    preset: str
    version: str
    known_version: str
    """The one that the preset was written for."""
    gate: Literal["passed", "failed", "never"]
    """How this version stands with the safety gate."""
    warnings: tuple[str, ...] = ()
    """What speaks against trusting it, a sentence each."""
