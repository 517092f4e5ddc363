"""A world graph made concrete: each edge with its actions and the steps that the monitors see."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sandbox.model.graph import Condition, Deed, Edge, Graph, Value, choices
from sandbox.model.observation import Observation
from sandbox.model.task import ScriptedAction
from sandbox.rules.checker.world_facts import facts_of
from sandbox.rules.monitors.context import NOWHERE, Context
from sandbox.rules.monitors.steps import Step

Values: TypeAlias = tuple[Value, ...]
Test: TypeAlias = tuple[tuple[int, Values], ...]
"""By the place of a variable: the values that are wanted."""
Position: TypeAlias = tuple[str, Values]
"""A state and the value of each variable, in the order of the graph."""


@dataclass(frozen=True, slots=True)
class Move:
    """An edge with what an agent does on it, and what comes of it."""

    edge: Edge
    actions: tuple[ScriptedAction, ...]
    steps: tuple[Step, ...]
    """Each deed, after the facts that it stands for; the numbers of their events mean nothing."""


class World:
    """A graph in which one can walk."""

    def __init__(
        self,
        graph: Graph,
        oracle: Sequence[ScriptedAction] = (),
        context: Context = NOWHERE,
    ) -> None:
        self.graph = graph
        self.moves = tuple(_move(edge, oracle, context) for edge in graph.edges)
        self._places = {name: place for place, name in enumerate(graph.variables)}
        self._guards = [self._test(edge.when) for edge in graph.edges]
        self._effects = [
            tuple((self._places[name], value) for name, value in edge.sets.items())
            for edge in graph.edges
        ]
        self._ends = {
            name: self._test(state.right) if isinstance(state.right, dict) else state.right
            for name, state in graph.states.items()
        }
        self._leaving: dict[str, list[int]] = {name: [] for name in graph.states}
        for number, edge in enumerate(graph.edges):
            for origin in edge.origins:
                self._leaving[origin].append(number)
        self._next: dict[Position, list[tuple[int, Position]]] = {}
        """What was asked for before: each product of the world asks for the same."""

    @property
    def start(self) -> Position:
        """Where every run begins."""
        return self.graph.start, tuple(known[0] for known in self.graph.variables.values())

    def next(self, position: Position) -> list[tuple[int, Position]]:
        """Give the moves that can be made somewhere, by number, and where each leads."""
        found = self._next.get(position)
        if found is None:
            state, values = position
            found = self._next[position] = [
                (number, (self.graph.edges[number].to or state, self._after(values, number)))
                for number in self._leaving[state]
                if _holds(self._guards[number], values)
            ]
        return found

    def right(self, position: Position) -> bool | None:
        """Whether a run that ends here has the right outcome; None where none ends."""
        answer = self._ends[position[0]]
        return _holds(answer, position[1]) if isinstance(answer, tuple) else answer

    def _test(self, condition: Condition) -> Test:
        return tuple((self._places[name], choices(wanted)) for name, wanted in condition.items())

    def _after(self, values: Values, number: int) -> Values:
        if not self._effects[number]:
            return values
        changed = list(values)
        for place, value in self._effects[number]:
            changed[place] = value
        return tuple(changed)


def _holds(test: Test, values: Values) -> bool:
    """Whether values are the wanted ones; a graph compares types when it is read."""
    for place, wanted in test:  # noqa: SIM110 - the innermost loop of the search
        if values[place] not in wanted:
            return False
    return True


def _move(edge: Edge, oracle: Sequence[ScriptedAction], context: Context) -> Move:
    actions: list[ScriptedAction] = []
    steps: list[Step] = []
    for deed in edge.does:
        if deed.event is not None:
            path = deed.arguments.get("path")
            paths = (path,) if deed.event == "changed" and isinstance(path, str) else ()
            steps.append(Step(0, deed.event, deed.arguments, changes=paths, kind=deed.event))
            continue
        done = _actions(deed, oracle)
        actions += done
        for action in done:
            step = _step(action, deed)
            steps += [*facts_of(step, context), step]
    return Move(edge, tuple(actions), tuple(steps))


def _actions(deed: Deed, oracle: Sequence[ScriptedAction]) -> list[ScriptedAction]:
    if deed.action is not None:
        return [ScriptedAction(action=deed.action, arguments=deed.arguments)]
    return [oracle[position] for position in deed.positions()]


def _step(action: ScriptedAction, deed: Deed) -> Step:
    observation = Observation(
        status="ok" if deed.error_code is None else "error",
        error_code=deed.error_code,
        result=deed.result,
    )
    return Step(0, action.action, action.arguments, observation, deed.changes)
