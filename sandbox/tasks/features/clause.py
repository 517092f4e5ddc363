"""Clauses: what each says, and the Python that does it.

A clause knows others by their keys, which stay when others are left out; the numbers that a reader
sees are given at the end.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.tasks.features.parts import Condition, Effect

Numbers = Mapping[int, int]
"""By key, the number that a clause has in the page."""
Draws = dict[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Clause(ABC):
    """A clause."""

    key: int

    def refers(self) -> tuple[int, ...]:
        """Give the keys of the clauses that it speaks of."""
        return ()

    @abstractmethod
    def says(self, numbers: Numbers) -> str:
        """Say it."""

    @abstractmethod
    def draws(self, others: Mapping[int, "Clause"]) -> Draws:
        """Give by field how orders are drawn that show it."""


@dataclass(frozen=True, slots=True)
class Refusal(Clause):
    """Orders with a field out of bounds are refused."""

    name: str
    least: int
    greatest: int

    def says(self, numbers: Numbers) -> str:  # noqa: ARG002 - as all
        """Say it."""
        return (
            f"Where `{self.name}` is less than {self.least} or more than {self.greatest}, a"
            " `ValueError` is raised."
        )

    def draws(self, others: Mapping[int, Clause]) -> Draws:  # noqa: ARG002 - as all
        """Give values on both sides of either bound."""
        near = [self.least - 1, self.least, self.greatest, self.greatest + 1]
        beyond = {"draw": "integer", "minimum": self.greatest + 1, "maximum": self.greatest * 9}
        return {self.name: (*near, beyond)}


@dataclass(frozen=True, slots=True)
class Term(Clause):
    """A word for parcels of some kind, which other clauses use."""

    word: str
    condition: Condition

    def says(self, numbers: Numbers) -> str:  # noqa: ARG002 - as all
        """Say it."""
        return f"A parcel is called {self.word} where {self.condition.says}."

    def draws(self, others: Mapping[int, Clause]) -> Draws:  # noqa: ARG002 - as all
        """Give what the condition draws."""
        return dict(self.condition.draws)


@dataclass(frozen=True, slots=True)
class Applied(Clause):
    """A clause that does something to the charge or the delivery, when its turn comes."""

    effect: Effect

    @abstractmethod
    def holds(self, numbers: Numbers) -> str:
        """Give the expression by which it applies, unless another clause exempts it."""


@dataclass(frozen=True, slots=True)
class Rule(Applied):
    """Where something holds, something is done."""

    conditions: tuple[Condition, ...]
    terms: tuple[int, ...] = ()
    """The clauses of the words that its conditions use."""

    def refers(self) -> tuple[int, ...]:
        """Give the clauses of its words."""
        return self.terms

    def says(self, numbers: Numbers) -> str:  # noqa: ARG002 - as all
        """Say it."""
        told = " and ".join(each.says for each in self.conditions)
        return f"Where {told}, {self.effect.says}."

    def draws(self, others: Mapping[int, Clause]) -> Draws:  # noqa: ARG002 - as all
        """Give what its conditions draw."""
        return {name: ways for each in self.conditions for name, ways in each.draws.items()}

    def holds(self, numbers: Numbers) -> str:  # noqa: ARG002 - as all
        """Give the expression."""
        return " and ".join(f"({each.holds})" for each in self.conditions)


@dataclass(frozen=True, slots=True)
class Both(Applied):
    """Where two others have applied, something is done."""

    pair: tuple[int, int]

    def refers(self) -> tuple[int, ...]:
        """Give the two."""
        return self.pair

    def says(self, numbers: Numbers) -> str:
        """Say it."""
        one, other = sorted(numbers[key] for key in self.pair)
        return f"Where both clause {one} and clause {other} have applied, {self.effect.says}."

    def draws(self, others: Mapping[int, Clause]) -> Draws:
        """Give what both draw."""
        return {name: ways for key in self.pair for name, ways in others[key].draws(others).items()}

    def holds(self, numbers: Numbers) -> str:
        """Give the expression."""
        one, other = sorted(numbers[key] for key in self.pair)
        return f"applied >= {{{one}, {other}}}"


@dataclass(frozen=True, slots=True)
class Changing(Clause):
    """A clause that changes another one."""

    changed: int

    def refers(self) -> tuple[int, ...]:
        """Give the one that it changes."""
        return (self.changed,)


@dataclass(frozen=True, slots=True)
class Exemption(Changing):
    """Another clause does not apply where something holds."""

    condition: Condition

    def says(self, numbers: Numbers) -> str:
        """Say it."""
        return f"Clause {numbers[self.changed]} does not apply where {self.condition.says}."

    def draws(self, others: Mapping[int, Clause]) -> Draws:
        """Give what the other one draws, and the condition."""
        return {**others[self.changed].draws(others), **self.condition.draws}


@dataclass(frozen=True, slots=True)
class Amendment(Changing):
    """Another clause has another amount where something holds."""

    condition: Condition
    amount: int
    instead_of: int

    def says(self, numbers: Numbers) -> str:
        """Say it."""
        return (
            f"Where {self.condition.says}, clause {numbers[self.changed]} is to be read with"
            f" {self.amount} instead of {self.instead_of}."
        )

    def draws(self, others: Mapping[int, Clause]) -> Draws:
        """Give what the other one draws, and the condition."""
        return {**others[self.changed].draws(others), **self.condition.draws}


@dataclass(frozen=True, slots=True)
class Later(Changing):
    """Another clause has its turn right after one that stands below it."""

    after: int

    def refers(self) -> tuple[int, ...]:
        """Give both."""
        return (self.changed, self.after)

    def says(self, numbers: Numbers) -> str:
        """Say it."""
        return (
            f"Clause {numbers[self.changed]} does not have its turn at its own place, but right"
            f" after clause {numbers[self.after]}, whether or not that one applies."
        )

    def draws(self, others: Mapping[int, Clause]) -> Draws:
        """Give what both draw."""
        return {**others[self.after].draws(others), **others[self.changed].draws(others)}
