"""The product of a world and its monitors: every way through a task, step by step.

A node is a position in the world together with the state of every hard monitor. The monitors
only watch: a path goes on where a rule is broken, so that it can be seen where it ends.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

from sandbox.rules.checker.watch import Watch
from sandbox.rules.checker.world import Position, World
from sandbox.rules.monitors.base import State

Path = tuple[int, ...]
"""The numbers of the moves."""

BOUND = 200_000
"""Nodes that are looked at, unless somebody asks for more."""


class Product:
    """All that can be reached from the start, nearest first, up to a bound."""

    def __init__(self, world: World, watches: Sequence[Watch], bound: int = BOUND) -> None:
        self.world = world
        self.watches = tuple(watches)
        self.arcs: list[list[tuple[int, int]]] = []
        """By node: each move that can be made there, and the node that it leads to."""
        self.positions: list[Position] = []
        self._right: list[bool | None] = []
        """By node: whether the outcome is right there."""
        self.complete = True
        """False where the bound was hit: what lies beyond is not known."""
        self._eyes = _Eyes(world, self.watches)
        self._seen: list[int] = []
        self._before: list[tuple[int, int]] = []
        self._explore(bound)

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
        return self._leading_to([node for node, broken in self._right_ends if not broken])

    @cached_property
    def hopeful(self) -> frozenset[int]:
        """Every node from which the outcome can still be right, whatever the rules say."""
        return self._leading_to([node for node, _ in self._right_ends])

    def sparing(self, rule: int) -> frozenset[int]:
        """Return the nodes from which the outcome can be right without breaking one rule."""
        return self._leading_to([node for node, broken in self._right_ends if rule not in broken])

    @cached_property
    def _right_ends(self) -> list[tuple[int, frozenset[int]]]:
        """Every node where a run is over with the right outcome, and the rules it has broken."""
        return [(node, self.verdict(node)) for node in self.ends if self._right[node]]

    @cached_property
    def ending(self) -> frozenset[int]:
        """Every node from which a run can end at all."""
        return self._leading_to(self.ends)

    def path(self, node: int) -> Path:
        """Return a shortest path from the start."""
        moves = []
        while node:
            node, move = self._before[node]
            moves.append(move)
        return tuple(reversed(moves))

    def at_end_of(self, path: Path) -> int:
        """Return the node that a path from the start leads to."""
        node = 0
        for move in path:
            node = dict(self.arcs[node])[move]
        return node

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

    def _explore(self, bound: int) -> None:
        start = (self.world.start, self._eyes.start)
        known = {start: 0}
        self.positions.append(start[0])
        self._seen.append(start[1])
        self._before.append((0, 0))
        moves: dict[Position, list[tuple[int, Position]]] = {}
        rights: dict[Position, bool | None] = {}
        node = 0
        while node < len(self.positions):
            position, seen = self.positions[node], self._seen[node]
            if position not in moves:
                moves[position] = self.world.next(position)
                rights[position] = self.world.right(position)
            self._right.append(rights[position])
            arcs = []
            for move, after in moves[position]:
                key = (after, self._eyes.after(seen, move))
                target = known.get(key)
                if target is None:
                    if len(self.positions) == bound:
                        self.complete = False
                        continue
                    target = known[key] = len(self.positions)
                    self.positions.append(key[0])
                    self._seen.append(key[1])
                    self._before.append((node, move))
                arcs.append((move, target))
            self.arcs.append(arcs)
            node += 1


class _Eyes:
    """The states of all monitors together, each combination known by a number."""

    def __init__(self, world: World, watches: Sequence[Watch]) -> None:
        self._moves = world.moves
        self._watches = watches
        self._after: dict[tuple[int, int], int] = {}
        self._single: dict[int, list[dict[State, State]]] = {}
        """By move: what each monitor's states become by it, as far as that was asked for."""
        self._verdict: dict[int, frozenset[int]] = {}
        initial = tuple(watch.start for watch in watches)
        self._numbers: dict[tuple[State, ...], int] = {initial: 0}
        self._states = [initial]
        self.start = 0

    def after(self, seen: int, move: int) -> int:
        """Return what the monitors have seen after a move."""
        key = (seen, move)
        found = self._after.get(key)
        if found is None:
            states = self._step(self._states[seen], move)
            found = self._numbers.setdefault(states, len(self._states))
            if found == len(self._states):
                self._states.append(states)
            self._after[key] = found
        return found

    def verdict(self, seen: int) -> frozenset[int]:
        """Return the rules that are broken where nothing more comes."""
        if seen not in self._verdict:
            pairs = zip(self._watches, self._states[seen], strict=True)
            broken = (number for number, (watch, state) in enumerate(pairs) if watch.fails(state))
            self._verdict[seen] = frozenset(broken)
        return self._verdict[seen]

    def _step(self, states: tuple[State, ...], move: int) -> tuple[State, ...]:
        tables = self._single.get(move)
        if tables is None:
            tables = self._single[move] = [{} for _ in self._watches]
        after = []
        for table, state, watch in zip(tables, states, self._watches, strict=True):
            if state not in table:
                table[state] = watch.after(state, self._moves[move].steps)
            after.append(table[state])
        return tuple(after)
