"""The way that a run took through its world graph, as far as what is known of the run tells it."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from sandbox.model.graph import Edge, Graph

Step = tuple[str, str]
"""An edge, and the state from which it was taken."""

_Place = tuple[str, int]
"""A state, and how many of the milestones have been reached."""


@dataclass(frozen=True, slots=True)
class Walk:
    """What is known of a run."""

    reached: tuple[str, ...] = ()
    """Milestones, in the order in which it has reached them; one that it reached again, again."""
    broken: frozenset[str] = frozenset()
    """Rules."""
    ends: Literal["answer", "stop"] | None = None
    """Whether it ended by an answer or gave up; None where something else ended it."""
    untaken: frozenset[str] = frozenset()
    """Edges that it cannot have taken, because nothing has happened that they stand for."""

    def numbers(self, graph: Graph, steps: Set[Step]) -> dict[str, int]:
        """Number the edges that reach its milestones, in their order.

        Of several that reach the same, those that are among its certain steps, if any is.
        """
        taken = {edge for edge, _ in steps}
        found: dict[str, int] = {}
        for place, milestone in enumerate(dict.fromkeys(self.reached), 1):
            reaching = {edge.id for edge in graph.edges if edge.milestone == milestone}
            found |= dict.fromkeys(reaching & taken or reaching - self.untaken, place)
        return found

    def steps(self, graph: Graph) -> frozenset[Step]:
        """Give the steps that lie on every way by which the graph explains the run.

        Where it knows several ways the steps of none of them are certain, and where it knows none,
        as of a run that did things in an order of its own, the way goes on behind that. Conditions
        are not looked at, so there may be fewer ways than are tried and never more.
        """
        known = {edge.milestone for edge in graph.edges}
        reached = [milestone for milestone in self.reached if milestone in known]
        taken, starts, over = set[Step](), frozenset({graph.start}), 0
        while True:
            found = _Ways(graph, self, starts, reached, over)
            taken |= found.certain()
            if found.furthest == len(reached):
                return frozenset(taken)
            lost, over = reached[found.furthest], found.furthest + 1
            edges = [edge for edge in graph.edges if edge.milestone == lost]
            starts = frozenset(edge.to or origin for edge in edges for origin in edge.origins)


class _Ways:
    """All ways from some states along some milestones to the run's end."""

    def __init__(
        self,
        graph: Graph,
        walk: Walk,
        starts: Iterable[str],
        reached: Sequence[str],
        over: int,
    ) -> None:
        self._walk, self._reached = walk, reached
        self._starts = {(state, over) for state in starts}
        self._leaving: dict[str, list[Edge]] = {state: [] for state in graph.states}
        for edge in graph.edges:
            if edge.id not in walk.untaken:
                for origin in edge.origins:
                    self._leaving[origin].append(edge)
        places = self._places(None)
        self.furthest = max((number for _, number in places), default=over)
        """How many of the milestones have been reached where the ways end."""
        self._to_the_end = self._ended(None)

    def certain(self) -> set[Step]:
        """Give the steps without which nothing of it can be explained."""
        steps = {(edge.id, state) for state, edges in self._leaving.items() for edge in edges}
        return {step for step in steps if not self._explained(step)}

    def _explained(self, without: Step) -> bool:
        if self._to_the_end:
            return self._ended(without)
        return any(number == self.furthest for _, number in self._places(without))

    def _ended(self, without: Step | None) -> bool:
        """Whether a way leads along all milestones to an end like the run's."""
        return self._walk.ends is not None and any(
            edge.ends == self._walk.ends and (edge.id, state) != without
            for state, number in self._places(without)
            if number == len(self._reached)
            for edge in self._leaving[state]
        )

    def _places(self, without: Step | None) -> set[_Place]:
        """Go wherever one can, without one of the steps."""
        seen, waiting = set(self._starts), list(self._starts)
        while waiting:
            state, number = waiting.pop()
            for edge in self._leaving[state]:
                if edge.ends or (edge.id, state) == without:
                    continue
                for place in self._led(edge, state, number):
                    if place not in seen:
                        seen.add(place)
                        waiting.append(place)
        return seen

    def _led(self, edge: Edge, state: str, number: int) -> list[_Place]:
        to = edge.to or state
        if edge.milestone is None or edge.milestone in self._reached[:number]:
            found = [(to, number)]
        else:
            found = []
        if number < len(self._reached) and edge.milestone == self._reached[number]:
            found.append((to, number + 1))
        return found
