"""A run that is watched while it goes on: what its rules and milestones say of each entry."""

from collections.abc import Iterable, Mapping
from typing import Self

from sandbox.model.atom import Milestone
from sandbox.model.event import Entry, MilestonePassed, Violation
from sandbox.model.rule import AtMost, Rule
from sandbox.model.task import Task
from sandbox.rules.monitors.base import Breach, Monitor
from sandbox.rules.monitors.context import NOWHERE, Context
from sandbox.rules.monitors.progress import Progress
from sandbox.rules.monitors.steps import Joiner, Step
from sandbox.rules.monitors.templates import BROKEN
from sandbox.rules.monitors.tree import Patterns

Remark = Violation | MilestonePassed

NAMES = 1024
"""Names of actions that are kept in mind; an agent may invent them."""


class Watch:
    """All monitors and milestones of one run. What they say changes nothing in the run."""

    def __init__(
        self,
        rules: Iterable[Rule],
        milestones: Iterable[Milestone] = (),
        context: Context = NOWHERE,
        sentences: Mapping[str, str] | None = None,
    ) -> None:
        """Watch rules; `sentences` tells by rule what the task says of it."""
        self.progress = Progress(tuple(milestones), context)
        self.breaches: list[Breach] = []
        """The rules that are broken for good, in the order in which that happened."""
        self._monitors = [
            Monitor(rule, context, (sentences or {}).get(rule.id, "")) for rule in rules
        ]
        self._heeded: dict[tuple[str, str, bool], list[tuple[Monitor, Patterns]]] = {}
        self._joiner = Joiner()

    @classmethod
    def of(cls, task: Task) -> Self:
        """Watch a task's rules and milestones."""
        sentences = {
            name.removeprefix("rule "): " ".join(each.says.split())
            for each in reversed(task.statements)
            for name in each.facts
            if name.startswith("rule ")
        }
        return cls(task.rules, task.milestones, Context.of(task), sentences)

    @property
    def left(self) -> dict[str, int]:
        """How many of what is bounded may still come, by the names under which rules tell it."""
        return {
            each.rule.tells: 0 if each.state == BROKEN else each.rule.n - each.state
            for each in self._monitors
            if isinstance(each.rule, AtMost) and each.rule.tells and isinstance(each.state, int)
        }

    def feed(self, entry: Entry) -> list[Remark]:
        """Take the next entry; give what is to be said of the step that it completes."""
        step = self._joiner.feed(entry)
        return [] if step is None else self._step(step)

    def would_break(self, steps: Iterable[Step]) -> tuple[str, ...]:
        """Name the hard rules that any one of these steps would break; nothing is fed."""
        return tuple(
            dict.fromkeys(
                each.rule.id
                for step in steps
                for each, _ in self._heeding(step)
                if each.rule.hard
                and each.state != BROKEN
                and each.advance(each.state, step) == BROKEN
            )
        )

    def finish(self) -> list[Remark]:
        """Say that the run is over; give what is to be said of that."""
        remarks = [remark for step in self._joiner.finish() for remark in self._step(step)]
        found = [broken for each in self._monitors if (broken := each.finish()) is not None]
        self.breaches += found
        return [*remarks, *map(_violation, found)]

    def _step(self, step: Step) -> list[Remark]:
        found = [
            broken
            for monitor, among in self._heeding(step)
            if (broken := monitor.feed(step, among)) is not None
        ]
        self.breaches += found
        passed = self.progress.feed(step)
        return [
            *(
                MilestonePassed(
                    milestone=each.milestone, reached=each.reached, progress=each.progress
                )
                for each in passed
            ),
            *map(_violation, found),
        ]

    def _heeding(self, step: Step) -> list[tuple[Monitor, Patterns]]:
        """Give the monitors that such a step can move; most steps are nothing to most."""
        key = (step.kind, step.name, bool(step.changes))
        if key not in self._heeded:
            if len(self._heeded) >= NAMES:
                self._heeded.clear()
            heeding = ((each, each.heeding(step)) for each in self._monitors)
            self._heeded[key] = [
                (each, among) for each, among in heeding if among or each.follows(step)
            ]
        return self._heeded[key]


def _violation(broken: Breach) -> Violation:
    return Violation(rule=broken.rule, message=broken.message, hard=broken.hard, step=broken.event)
