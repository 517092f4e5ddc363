"""Which programs a process descends from, and which grants it shares: kept by process id."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.rules.policy.grants import Grant

MOST = 256
"""Names of ancestors that are kept, the nearest first, each once."""

_FURTHEST = 64
"""Processes that run no program of their own between one that does and its ancestor."""

ParentOf = Callable[[int], int | None]
"""The parent of a process that is alive; None where it is gone or nobody's child."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """What a process has of those before it."""

    ancestors: tuple[str, ...] = ()
    """Names of programs, the nearest first; those that the process itself ran before count."""
    grants: tuple[Grant, ...] = ()
    """What it and those before it were permitted."""
    sequenced: bool = False
    """Whether its parent is a git that rebases, picks or reverts, and it has run nothing before."""


@dataclass(frozen=True, slots=True)
class _Known:
    number: int
    action: str
    program: str
    lineage: Lineage
    sequences: bool


class Lineages:
    """The processes that run a program now, as far as their execs were seen."""

    def __init__(self, parent_of: ParentOf) -> None:
        self._parent_of = parent_of
        self._known: dict[int, _Known] = {}

    def of(self, action: str, pid: int, parent: int) -> Lineage:
        """Return the lineage of a process that is about to run a program."""
        for ancestor in self._up(pid, parent):
            known = self._known.get(ancestor)
            if known is not None and known.action == action:
                names = dict.fromkeys((known.program, *known.lineage.ancestors))
                sequenced = known.sequences and ancestor == parent != pid
                return Lineage(tuple(names)[:MOST], known.lineage.grants, sequenced)
        return Lineage()

    def add(
        self,
        number: int,
        action: str,
        pid: int,
        program: str,
        lineage: Lineage,
        *,
        sequences: bool = False,
    ) -> None:
        """Keep what a process runs from now on; `sequences` is of the program, see `Lineage`."""
        self._known[pid] = _Known(number, action, program, lineage, sequences)

    def end(self, number: int, pid: int) -> None:
        """Forget a process, unless it runs another program by now."""
        known = self._known.get(pid)
        if known is not None and known.number == number:
            del self._known[pid]

    def _up(self, pid: int, parent: int) -> "list[int]":
        """Go from a process to the nearest one that is known."""
        way, current = [pid, parent], parent
        while current not in self._known and len(way) < _FURTHEST:
            above = self._parent_of(current)
            if above is None:
                break
            way.append(above)
            current = above
        return way
