"""The function that a specification asks for, as Python: the reference, and the oracle's file."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from sandbox.tasks.features.clause import (
    Amendment,
    Applied,
    Both,
    Changing,
    Clause,
    Exemption,
    Later,
    Numbers,
    Refusal,
    Term,
)
from sandbox.tasks.features.parts import kinds
from sandbox.tasks.features.specification import FUNCTION, Specification

SomeChanging = TypeVar("SomeChanging", bound=Changing)


def source(of: Specification, *, leaving_out: bool = False) -> str:
    """Write the function.

    With `leaving_out` it has a second parameter: the number of a clause that is left out.
    """
    return "\n".join(_Source(of, leaving_out=leaving_out).lines()) + "\n"


class _Source:
    def __init__(self, of: Specification, *, leaving_out: bool) -> None:
        self._of = of
        self._numbers: Numbers = of.numbers
        self._leaving_out = leaving_out

    def lines(self) -> Iterator[str]:
        clauses = self._of.clauses
        yield f"def {FUNCTION}(order{', left_out=0' if self._leaving_out else ''}):"
        yield f'    """See {self._of.place}; clauses are named by their numbers."""'
        for name in kinds().fields:
            yield f'    {name} = order["{name}"]'
        for each in clauses:
            if isinstance(each, Refusal):
                yield from self._refusal(each)
        for each in clauses:
            if isinstance(each, Term):
                holds = self._guarded(each, f"({each.condition.holds})")
                yield f"    {each.word} = {holds}  # {self._number(each)}"
        begin = f"{self._of.cents}, {self._of.days}, {self._of.kind!r}, []"
        yield f"    cents, days, kind, marks = {begin}"
        yield "    applied = set()"
        for each in clauses:
            if isinstance(each, Applied):
                yield from self._turns(each)
        yield '    return {"cents": cents, "days": days, "kind": kind, "marks": marks}'

    def _refusal(self, each: Refusal) -> Iterator[str]:
        outside = f"not {each.least} <= {each.name} <= {each.greatest}"
        yield f"    if {self._guarded(each, outside)}:  # {self._number(each)}"
        yield f'        raise ValueError("{each.name}")'

    def _turns(self, each: Applied) -> Iterator[str]:
        """Write what has its turn where a clause stands: itself, and what is to come after it."""
        moved = self._changing(Later, each)
        if not moved:
            yield from self._applied(each, "")
        elif self._leaving_out:
            yield from self._applied(each, f"left_out == {self._number(moved[0])} and ")
        for later in self._of.clauses:
            if isinstance(later, Later) and later.after == each.key:
                guard = f"left_out != {self._number(later)} and " if self._leaving_out else ""
                yield from self._applied(self._of.applied(later.changed), guard)

    def _applied(self, each: Applied, guard: str) -> Iterator[str]:
        holds = guard + self._guarded(each, each.holds(self._numbers))
        for exempt in self._changing(Exemption, each):
            holds += f" and not ({self._guarded(exempt, exempt.condition.holds)})"
        yield f"    if {holds}:  # {self._number(each)}"
        if any(isinstance(other, Both) and each.key in other.pair for other in self._of.clauses):
            yield f"        applied.add({self._number(each)})"
        amended = self._changing(Amendment, each)
        amount = ""
        if amended:
            (one,) = amended
            where = self._guarded(one, f"({one.condition.holds})")
            amount = f"{one.amount} if {where} else {one.instead_of}"
        yield f"        {each.effect.does(amount)}"

    def _changing(self, kind: type[SomeChanging], of: Clause) -> Sequence[SomeChanging]:
        return [
            each for each in self._of.clauses if isinstance(each, kind) and each.changed == of.key
        ]

    def _guarded(self, each: Clause, expression: str) -> str:
        if not self._leaving_out:
            return expression
        return f"left_out != {self._number(each)} and {expression}"

    def _number(self, each: Clause) -> int:
        return self._numbers[each.key]
