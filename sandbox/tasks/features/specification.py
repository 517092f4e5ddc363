"""A specification: numbered clauses in sections, of a function that says what a parcel costs."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sandbox.tasks.features.clause import Applied, Clause, Numbers, Refusal, Rule, Term
from sandbox.tasks.features.parts import kinds

FUNCTION = "charge"
PLACE = "specification/charges.md"


@dataclass(frozen=True)
class Specification:
    """What is asked for."""

    clauses: tuple[Clause, ...]
    """In the order of the page."""
    cents: int
    """What a charge begins with."""
    days: int
    kind: str
    fields: dict[str, dict[str, Any]]
    """How a field of an order is drawn where a clause says nothing of it."""
    lists: dict[str, Any]
    """What stands for lists of words."""
    place: str = PLACE

    @cached_property
    def numbers(self) -> Numbers:
        """By key, the number of each clause."""
        return {each.key: number for number, each in enumerate(self.clauses, 1)}

    @cached_property
    def by_key(self) -> dict[int, Clause]:
        """By key, each clause."""
        return {each.key: each for each in self.clauses}

    def applied(self, key: int) -> Applied:
        """Give a clause that does something."""
        found = self.by_key[key]
        assert isinstance(found, Applied)  # noqa: S101 - no other can be meant
        return found

    def order(self, clause: Clause) -> dict[str, Any]:
        """Give how orders are drawn that show a clause."""
        shown = {
            name: {"draw": "choice", "of": list(ways)}
            for name, ways in clause.draws(self.by_key).items()
        }
        return {**self.fields, **shown}


SECTIONS = ("Refusals", "Charge", "Delivery", "Words", "Exceptions")


def section(of: Clause) -> str:
    """Say in which part of the page a clause stands."""
    if isinstance(of, Refusal):
        return "Refusals"
    if isinstance(of, Term):
        return "Words"
    if isinstance(of, Rule):
        return "Charge" if of.effect.kind in kinds().charges.values() else "Delivery"
    return "Exceptions"


def in_sections(clauses: Iterable[Clause]) -> tuple[Clause, ...]:
    """Put clauses into the order of the page; those of a section stay as they are."""
    return tuple(sorted(clauses, key=lambda each: SECTIONS.index(section(each))))
