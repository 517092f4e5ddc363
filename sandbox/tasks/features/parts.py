"""The parts of clauses, with values drawn: conditions, and what happens where they hold."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

from sandbox.model import documents
from sandbox.model.clauses import ClauseKinds, ConditionKind, DrawnValue, EffectKind
from sandbox.tasks.plans.drawing import Drawing
from sandbox.tasks.template import filled, filled_text

KINDS = Path(__file__).parent / "clauses.yaml"
ZONES, CUSTOMERS = 5, 4
"""How many of the words a specification has."""

Values = dict[str, str | int | list[str]]


@cache
def kinds() -> ClauseKinds:
    """Read what clauses are made of."""
    return documents.load(KINDS, ClauseKinds)


@dataclass(frozen=True, slots=True)
class Condition:
    """When a clause applies."""

    says: str
    holds: str
    """An expression."""
    draws: Mapping[str, tuple[Any, ...]]
    """By field, one way after the other to draw it."""

    def __or__(self, other: Self) -> "Condition":
        """Give the condition that either of two holds."""
        return Condition(
            f"{self.says}, or where {other.says}",
            f"({self.holds}) or ({other.holds})",
            {**self.draws, **other.draws},
        )


@dataclass(frozen=True, slots=True)
class Effect:
    """What a clause does."""

    kind: EffectKind
    values: Values

    @property
    def says(self) -> str:
        """Say it."""
        return filled_text(self.kind.says, self.values)

    def does(self, amount: str = "") -> str:
        """Give the statement, perhaps with an expression for its amount."""
        changed = {self.kind.amount: f"({amount})"} if amount else {}
        return filled_text(self.kind.does, {**self.values, **changed})


class Words:
    """Draws the words of a specification, and the parts that they stand in."""

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        self._kinds = kinds()
        shuffled = {name: drawing.shuffled(words) for name, words in self._kinds.words.items()}
        self.zones, self.customers = shuffled["zone"][:ZONES], shuffled["customer"][:CUSTOMERS]
        self.terms, self._marks, self.classes = (shuffled[x] for x in ("term", "mark", "kind"))

    @property
    def lists(self) -> Values:
        """What stands for the lists of words."""
        return {
            "zones": ", ".join(f"`{each}`" for each in self.zones),
            "zonelist": self.zones,
            "customers": ", ".join(f"`{each}`" for each in self.customers),
            "customerlist": self.customers,
        }

    def fields(self) -> dict[str, dict[str, Any]]:
        """Give how each field of an order is drawn where nothing else is said."""
        return {name: filled(each.draw, self.lists) for name, each in self._kinds.fields.items()}

    def condition(self, without: Collection[str] = (), *, state: bool = False) -> Condition:
        """Draw one over a field that is not among those; with `state`, perhaps over the charge."""
        fit = [
            kind
            for kind in self._kinds.conditions.values()
            if (state or kind.draws) and not kind.draws.keys() & set(without)
        ]
        return self._condition(self._drawing.choice(fit))

    def charge(self) -> Effect:
        """Draw what becomes of the charge."""
        return self._effect(self._drawing.choice(tuple(self._kinds.charges.values())))

    def delivery(self) -> Effect:
        """Draw what becomes of days, marks and kind."""
        return self._effect(self._drawing.choice(tuple(self._kinds.delivery.values())))

    def amount(self, effect: Effect) -> int:
        """Draw another amount for it."""
        drawn = effect.kind.values[effect.kind.amount]
        while (found := self._value(drawn, {})) == effect.values[effect.kind.amount]:
            continue
        return found

    def _condition(self, kind: ConditionKind) -> Condition:
        values = self._values(kind.values)
        draws = filled({name: list(each) for name, each in kind.draws.items()}, values)
        return Condition(
            filled_text(kind.says, values),
            filled_text(kind.holds, values),
            {name: tuple(each) for name, each in draws.items()},
        )

    def _effect(self, kind: EffectKind) -> Effect:
        return Effect(kind, self._values(kind.values))

    def _values(self, wanted: Mapping[str, DrawnValue]) -> Values:
        zone, other = self._drawing.shuffled(self.zones)[:2]
        found: Values = {
            **self.lists,
            "zone": zone,
            "otherzone": other,
            "customer": self._drawing.choice(self.customers),
            "mark": self._drawing.choice(self._marks),
            "kind": self._drawing.choice(self.classes[1:]),
        }
        for name, each in wanted.items():
            found[name] = self._value(each, found)
        return found

    def _value(self, drawn: DrawnValue, found: Values) -> int:
        if drawn.of:
            of = found[drawn.of]
            assert isinstance(of, int)  # noqa: S101 - the file is ours
            return of * drawn.times + drawn.plus
        steps = (drawn.maximum - drawn.minimum) // drawn.step
        return drawn.minimum + drawn.step * self._drawing.below(steps + 1)
