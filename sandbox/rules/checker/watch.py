"""A monitor as the checker uses it: states go in and come out, of one world."""

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
        self._known: dict[tuple[State, int], State] = {}

    def after(self, state: State, move: int, steps: Iterable[Step]) -> State:
        """Return the state after the steps of a move; each move of a world has its own number."""
        found = self._known.get((state, move))
        if found is None:
            found = state
            for step in steps:
                found = self._monitor.advance(found, step)
            self._known[state, move] = found
        return found

    def fails(self, state: State) -> bool:
        """Whether the rule is broken where nothing comes any more."""
        return state == BROKEN or self._monitor.unfinished(state)
