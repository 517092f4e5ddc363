"""A world graph made concrete: each edge with its actions and the steps that the monitors see."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sandbox.model.graph import Deed, Edge, Graph, Value, holds
from sandbox.model.observation import Observation
from sandbox.model.task import ScriptedAction
from sandbox.monitors.steps import Step

Position: TypeAlias = tuple[str, tuple[Value, ...]]
"""A state and the value of each variable, in the order of the graph."""


@dataclass(frozen=True, slots=True)
class Move:
    """An edge with what an agent does on it, and what comes of it."""

    edge: Edge
    actions: tuple[ScriptedAction, ...]
    steps: tuple[Step, ...]
    """One for each deed; the numbers of their events mean nothing."""


class World:
    """A graph in which one can walk."""

    def __init__(self, graph: Graph, oracle: Sequence[ScriptedAction] = ()) -> None:
        self.graph = graph
        self.moves = tuple(_move(edge, oracle) for edge in graph.edges)
        self._names = tuple(graph.variables)
        self._leaving: dict[str, list[int]] = {name: [] for name in graph.states}
        for number, edge in enumerate(graph.edges):
            for origin in edge.origins:
                self._leaving[origin].append(number)

    @property
    def start(self) -> Position:
        """Where every run begins."""
        return self.graph.start, tuple(known[0] for known in self.graph.variables.values())

    def next(self, position: Position) -> list[tuple[int, Position]]:
        """Give the moves that can be made somewhere, by number, and where each leads."""
        state, values = position
        found = []
        for number in self._leaving[state]:
            edge = self.graph.edges[number]
            named = dict(zip(self._names, values, strict=True))
            if holds(edge.when, named):
                after = values if not edge.sets else tuple((named | edge.sets).values())
                found.append((number, (edge.to or state, after)))
        return found

    def right(self, position: Position) -> bool | None:
        """Whether a run that ends here has the right outcome; None where none ends."""
        state, values = position
        answer = self.graph.states[state].right
        if not isinstance(answer, dict):
            return answer
        return holds(answer, dict(zip(self._names, values, strict=True)))


def _move(edge: Edge, oracle: Sequence[ScriptedAction]) -> Move:
    actions: list[ScriptedAction] = []
    steps: list[Step] = []
    for deed in edge.does:
        if deed.event is not None:
            steps.append(Step(0, deed.event, deed.arguments, kind=deed.event))
            continue
        done = _actions(deed, oracle)
        actions += done
        steps += [_step(action, deed) for action in done]
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
