"""A monitor as the checker uses it: states go in and come out, nothing is kept."""

from collections.abc import Iterable

from sandbox.model.rule import Rule
from sandbox.rules.monitors.base import Monitor, State
from sandbox.rules.monitors.context import NOWHERE, Context
from sandbox.rules.monitors.steps import Step
from sandbox.rules.monitors.templates import BROKEN


class Watch:
    """Watches one rule of a task."""

    def __init__(self, rule: Rule, context: Context = NOWHERE) -> None:
        self._monitor = Monitor(rule, context)
        self.start: State = self._monitor.state
        """The state before any step."""

    def after(self, state: State, steps: Iterable[Step]) -> State:
        """Return the state after some steps."""
        for step in steps:
            state = self._monitor.advance(state, step)
        return state

    def fails(self, state: State) -> bool:
        """Whether the rule is broken where nothing comes any more."""
        return state == BROKEN or self._monitor.unfinished(state)
