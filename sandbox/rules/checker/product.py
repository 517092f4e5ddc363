"""The product of a world and its monitors: every way through a task, step by step.

A node is a position in the world together with the state of every hard monitor. The monitors
only watch: a path goes on where a rule is broken, so that it can be seen where it ends. What a rule
says does not depend on the others, so a way is followed only until two are broken: how a rule is
broken alone is seen by then, and what lies beyond is asked of the world, or of the world and one
rule. Every combination of broken rules would be some hundred times as many nodes.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

from sandbox.rules.checker.eyes import Eyes
from sandbox.rules.checker.watch import Watch
from sandbox.rules.checker.world import Position, World
from sandbox.rules.monitors.base import State
from sandbox.rules.monitors.templates import BROKEN

Path = tuple[int, ...]
"""The numbers of the moves."""

BOUND = 200_000
"""Nodes that are looked at, unless somebody asks for more."""

ONE = 1
"""Rules that are broken on a way that is followed."""


class Product:
    """All that can be reached from the start, nearest first, up to a bound."""

    def __init__(
        self,
        world: World,
        watches: Sequence[Watch],
        bound: int = BOUND,
        most: int | None = ONE,
    ) -> None:
        """Follow each way until more rules are broken than `most`, None for to its end.

        A move that breaks more at once is there, where nothing was broken before it.
        """
        self.world = world
        self.watches = tuple(watches)
        self.arcs: list[list[tuple[int, int]]] = []
        """By node: each move that can be made there, and the node that it leads to."""
        self.positions: list[Position] = []
        self._right: list[bool | None] = []
        """By node: whether the outcome is right there."""
        self.complete = True
        """False where the bound was hit: what lies beyond is not known."""
        self._eyes = Eyes(world, self.watches)
        self._seen: list[int] = []
        self._before: list[tuple[int, int]] = []
        self._bound, self._most = bound, most
        self._nodes: dict[tuple[Position, int], int] = {}
        self._single: dict[int, Product] = {}
        self._explore()

    def __len__(self) -> int:
        return len(self.positions)

    def right(self, node: int) -> bool | None:
        """Whether the outcome is right here; None where no run ends."""
        return self._right[node]

    def verdict(self, node: int) -> frozenset[int]:
        """Return the rules that are broken where a run ends here."""
        return self._eyes.verdict(self._seen[node])

    def accepts(self, node: int) -> bool:
        """Whether a run that ends here passes."""
        return self.right(node) is True and not self.verdict(node)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Every node where a run is over, nearest first."""
        return tuple(node for node, right in enumerate(self._right) if right is not None)

    @cached_property
    def alive(self) -> frozenset[int]:
        """Every node from which a run can still pass."""
        return self._leading_to([node for node in self.ends if self.accepts(node)])

    @cached_property
    def places(self) -> "Product":
        """The world alone, whatever the rules say."""
        return Product(self.world, (), self._bound)

    def place(self, node: int) -> int:
        """Return the node of `places` where this one stands."""
        return self.places._nodes[self.positions[node], 0]  # noqa: SLF001 - another one of these

    def hopeful(self, node: int) -> bool:
        """Whether the outcome can still be right from here, whatever the rules say."""
        return self.place(node) in self.places.alive

    def can_end(self, node: int) -> bool:
        """Whether a run can end at all from here."""
        return self.place(node) in self.places.ending

    def spares(self, rule: int, node: int) -> bool:
        """Whether the outcome can be right from here without breaking one rule."""
        state = self._eyes.state(self._seen[node], rule)
        if state == BROKEN:
            return False
        single = self._single.get(rule)
        if single is None:
            single = Product(self.world, (self.watches[rule],), self._bound, most=0)
            self._single[rule] = single
        there = single._find(self.positions[node], state)
        return there in single.alive

    def under(self, *rules: int) -> "Product":
        """Return what there is under some of the rules."""
        return Product(self.world, [self.watches[rule] for rule in rules], self._bound)

    @cached_property
    def whole(self) -> "Product":
        """All there is, to the end of every way."""
        return Product(self.world, self.watches, self._bound, most=None)

    @cached_property
    def ending(self) -> frozenset[int]:
        """Every node from which a run can end at all, on ways that are followed."""
        return self._leading_to(self.ends)

    def ended(self, path: Path) -> tuple[frozenset[int], bool | None]:
        """Say of a path from the start which rules are broken if a run ends there, and `right`."""
        position, seen = self.world.start, self._eyes.start
        for move in path:
            position = dict(self.world.next(position))[move]
            seen = self._eyes.after(seen, move)
        return self._eyes.verdict(seen), self.world.right(position)

    def path(self, node: int) -> Path:
        """Return a shortest path from the start."""
        moves = []
        while node:
            node, move = self._before[node]
            moves.append(move)
        return tuple(reversed(moves))

    def depth(self, node: int) -> int:
        """How many moves a node is away from the start."""
        return self._depths[node]

    def shortest(
        self,
        goal: Callable[[int], bool],
        without: frozenset[int] = frozenset(),
        start: int = 0,
    ) -> Path | None:
        """Return a shortest path to a goal that makes none of some moves; None where none is."""
        before: dict[int, tuple[int, int]] = {start: (start, 0)}
        queue = [start]
        for node in queue:
            if goal(node):
                moves = []
                while node != start:
                    node, move = before[node]
                    moves.append(move)
                return tuple(reversed(moves))
            for move, target in self.arcs[node]:
                if target not in before and move not in without:
                    before[target] = (node, move)
                    queue.append(target)
        return None

    def distances(self, goals: Sequence[int]) -> dict[int, int]:
        """By node from which one of the goals can be reached: in how many moves."""
        known = dict.fromkeys(goals, 0)
        queue = list(goals)
        for node in queue:
            for source in self._sources[node]:
                if source not in known:
                    known[source] = known[node] + 1
                    queue.append(source)
        return known

    @cached_property
    def _sources(self) -> list[list[int]]:
        sources: list[list[int]] = [[] for _ in range(len(self))]
        for node, arcs in enumerate(self.arcs):
            for _, target in arcs:
                sources[target].append(node)
        return sources

    @cached_property
    def _depths(self) -> list[int]:
        depths = [0] * len(self)
        for node in range(1, len(self)):
            depths[node] = depths[self._before[node][0]] + 1
        return depths

    def _leading_to(self, goals: Sequence[int]) -> frozenset[int]:
        return frozenset(self.distances(goals))

    def _find(self, position: Position, *states: State) -> int | None:
        return self._nodes.get((position, self._eyes.number(states)))

    def _explore(self) -> None:
        start = (self.world.start, self._eyes.start)
        self._nodes[start] = 0
        self.positions.append(start[0])
        self._seen.append(start[1])
        self._before.append((0, 0))
        node = 0
        while node < len(self.positions):
            self._right.append(self.world.right(self.positions[node]))
            self.arcs.append(self._arcs(node))
            node += 1

    def _arcs(self, node: int) -> list[tuple[int, int]]:
        arcs: list[tuple[int, int]] = []
        seen, broken, most = self._seen[node], self._eyes.broken, self._most
        if most is not None and broken(seen) > most:
            return arcs
        for move, after in self.world.next(self.positions[node]):
            key = (after, self._eyes.after(seen, move))
            target = self._nodes.get(key)
            if target is None:
                if most is not None and broken(key[1]) > most and broken(seen):
                    continue
                if len(self.positions) == self._bound:
                    self.complete = False
                    continue
                target = self._nodes[key] = len(self.positions)
                self.positions.append(key[0])
                self._seen.append(key[1])
                self._before.append((node, move))
            arcs.append((move, target))
        return arcs
