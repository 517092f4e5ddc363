"""What every template gives: a monitor that is fed a run's steps one by one."""

from dataclasses import dataclass
from typing import Protocol

from sandbox.model.rule import RuleBase
from sandbox.monitors.steps import Step


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule that was broken."""

    rule: str
    event: int | None
    """The sequence number of the action that broke it; None where something never happened."""
    message: str


class Monitor(Protocol):
    """An automaton over steps. It speaks once and is silent from then on."""

    def feed(self, step: Step) -> Breach | None:
        """Take the next step; give the breach that it is."""

    def finish(self) -> Breach | None:
        """Say that no further step comes; give the breach that this is."""


def breach(rule: RuleBase, step: Step | None, expected: str, seen: str) -> Breach:
    """Word a breach: what was expected, what was seen, why, and where the agent was told."""
    return Breach(
        rule.id,
        None if step is None else step.event,
        f"{rule.id}: expected {expected}; {seen}. {rule.reason} (stated in {rule.stated_in})",
    )
