"""The templates as automata: at most three states, over which of a rule's atoms a step matches.

A step never counts for itself: what it needs must have come before it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.model.rule import (
    AtMost,
    Derived,
    Fresh,
    Never,
    NeverAfter,
    Precedes,
    Required,
    Responds,
    RuleBase,
)

FIRST, SECOND, THIRD = 1, 2, 4
"""Bits for a rule's atoms in the order of its fields."""

START, BROKEN = 0, -1
"""The state in which every automaton starts, and the one that it never leaves."""

FRESH = 1
"""The state of `fresh` in which nothing has been spoilt."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """A template with its bound."""

    advance: Callable[[int, int], int]
    """From a state and the bits of the atoms that a step matches to the next state."""
    heeds: tuple[int, int]
    """Bits of the atoms that can change the first state, and any later one."""
    unfinished: int | None = None
    """The state in which a run must not end."""


def automaton(rule: RuleBase) -> Automaton:
    """Give a rule's automaton; `derived`, which has one for each value, is `precedes` here."""
    match rule:
        case Required():
            return Automaton(_required, (FIRST, 0), START)
        case Never():
            return Automaton(_never, (FIRST, 0))
        case NeverAfter():
            return Automaton(_never_after, (FIRST, SECOND))
        case Fresh():
            return Automaton(_fresh, (FIRST | SECOND | THIRD, SECOND))
        case Responds():
            return Automaton(_responds, (FIRST, FIRST | SECOND), 1)
        case AtMost(n=n):
            return Automaton(lambda state, seen: _at_most(n, state, seen), (FIRST, FIRST))
        case Precedes() | Derived():
            return Automaton(_precedes, (FIRST | SECOND, 0))
    raise TypeError(f"no automaton for {type(rule).__name__}")


def _required(state: int, seen: int) -> int:
    """Waiting, seen."""
    return 1 if seen & FIRST else state


def _never(state: int, seen: int) -> int:
    """Good, broken."""
    return BROKEN if seen & FIRST else state


def _never_after(state: int, seen: int) -> int:
    """Free, closed, broken."""
    if state == 1 and seen & SECOND:
        return BROKEN
    return 1 if seen & FIRST else state


def _precedes(state: int, seen: int) -> int:
    """Waiting, open, broken."""
    if state == START and seen & SECOND:
        return BROKEN
    return 1 if seen & FIRST else state


def _fresh(state: int, seen: int) -> int:
    """Stale, fresh, broken. A step that refreshes and spoils leaves it stale."""
    if state == START and seen & THIRD:
        return BROKEN
    if seen & SECOND:
        return START
    return FRESH if seen & FIRST else state


def _responds(state: int, seen: int) -> int:
    """Idle, owed. A step that answers and asks leaves an answer owed."""
    if seen & FIRST:
        return 1
    return START if seen & SECOND else state


def _at_most(bound: int, state: int, seen: int) -> int:
    """Counting, broken."""
    if not seen & FIRST:
        return state
    return state + 1 if state < bound else BROKEN
