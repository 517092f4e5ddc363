"""The states of all monitors together, each combination known by a number."""

from collections.abc import Sequence

from sandbox.rules.checker.watch import Watch
from sandbox.rules.checker.world import World
from sandbox.rules.monitors.base import State
from sandbox.rules.monitors.templates import BROKEN


class Eyes:
    """What the monitors have seen."""

    def __init__(self, world: World, watches: Sequence[Watch]) -> None:
        self._moves = world.moves
        self._watches = watches
        self._after: dict[tuple[int, int], int] = {}
        self._verdict: dict[int, frozenset[int]] = {}
        initial = tuple(watch.start for watch in watches)
        self._numbers: dict[tuple[State, ...], int] = {initial: 0}
        self._states = [initial]
        self._broken = [initial.count(BROKEN)]
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
                self._broken.append(states.count(BROKEN))
            self._after[key] = found
        return found

    def state(self, seen: int, rule: int) -> State:
        """Return the state of one monitor."""
        return self._states[seen][rule]

    def number(self, states: tuple[State, ...]) -> int:
        """Return what is known as these states; -1 where nothing has led to them."""
        return self._numbers.get(states, -1)

    def broken(self, seen: int) -> int:
        """How many rules are broken, whatever comes."""
        return self._broken[seen]

    def verdict(self, seen: int) -> frozenset[int]:
        """Return the rules that are broken where nothing more comes."""
        if seen not in self._verdict:
            pairs = zip(self._watches, self._states[seen], strict=True)
            broken = (number for number, (watch, state) in enumerate(pairs) if watch.fails(state))
            self._verdict[seen] = frozenset(broken)
        return self._verdict[seen]

    def _step(self, states: tuple[State, ...], move: int) -> tuple[State, ...]:
        steps = self._moves[move].steps
        pairs = zip(self._watches, states, strict=True)
        return tuple([watch.after(state, move, steps) for watch, state in pairs])
