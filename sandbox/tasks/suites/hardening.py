"""Hardening: a search for variants at which given agents fail, each of them solvable.

Evolve and eliminate. Each round tries some variants. What no agent fails at is put aside, and so is
what the oracle fails at; what is hardest, or tells the agents apart best, is kept. The next
round's are drawn from these: an operator more, a strength more, or another number. Where nothing
is kept, they are drawn from all that were tried.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.model.base import Record
from sandbox.model.errors import UsageError
from sandbox.rules.checker.check import check
from sandbox.tasks import library
from sandbox.tasks.plans import operators
from sandbox.tasks.plans.drawing import Drawing
from sandbox.tasks.plans.variant import NUMBERS, Variant

TRIES = 40
"""Draws at most for each variant that is wanted."""


class Tried(Record):
    """A variant with what became of it."""

    variant: str
    passed: dict[str, int]
    """By agent: how many of its runs passed."""
    runs: int
    """Of each agent."""
    solvable: bool
    """Whether the oracle passed."""

    @property
    def rates(self) -> list[float]:
        """Each agent's share of passed runs."""
        return [count / self.runs for count in self.passed.values()]

    @property
    def hardness(self) -> float:
        """The share of all runs that did not pass."""
        return 1 - sum(self.rates) / len(self.rates)

    @property
    def separation(self) -> float:
        """How far the best agent is from the worst."""
        return max(self.rates) - min(self.rates)

    @property
    def worth(self) -> float:
        """What it is kept for; 0 where every run passed, or the oracle did not."""
        return self.hardness + self.separation if self.solvable else 0.0


@dataclass(frozen=True, slots=True)
class Search:
    """Draws the variants of each round; the same names and results give the same ones."""

    tasks: tuple[str, ...]
    seed: int
    population: int

    def wanted(self, tried: Sequence[Tried]) -> list[str]:
        """Draw the next round's variants, of which none was tried; fewer where there are no more.

        Tasks of which none was tried come first.
        """
        known = {each.variant for each in tried}
        draw = Drawing("harden", *self.tasks, self.seed, len(known))
        parents = [each.variant for each in kept(tried, self.population)]
        parents = parents or [each.variant for each in tried] or list(self.tasks)
        found = [name for name in self.tasks if name not in known][: self.population]
        for _ in range(TRIES * self.population):
            if len(found) >= self.population:
                break
            child = _child(draw.choice(parents), draw)
            if child is not None and child not in known and child not in found:
                found.append(child)
        return found


def kept(tried: Sequence[Tried], population: int) -> list[Tried]:
    """Give the better half of a population, the best ones first; none that is worth nothing."""
    worth = [each for each in tried if each.worth > 0]
    worth.sort(key=lambda each: (-each.worth, each.variant))
    return worth[: max(1, population // 2)]


def costless(tried: Sequence[Tried]) -> list[str]:
    """Name the operators of whose variants every run passed."""
    used: dict[str, float] = {}
    for each in tried:
        if each.solvable:
            for name, _ in Variant.parse(each.variant).operators:
                used[name] = max(used.get(name, 0.0), each.hardness)
    return sorted(name for name, hardness in used.items() if hardness == 0)


def _child(parent: str, draw: Drawing) -> str | None:
    """Draw a variant from another one; None where what is drawn does not fit or is not sound."""
    made = draw.choice((_another, _stronger, _more, _more))(Variant.parse(parent), draw)
    if made is None:
        return None
    try:
        loaded = library.load(str(operators.canonical(made)))
    except UsageError:
        return None
    return loaded.task.id if check(loaded.task).sound else None


def _another(parent: Variant, draw: Drawing) -> Variant | None:
    """Give it another number, where that decides anything."""
    if parent.number is None:
        return None
    return Variant(parent.task, parent.operators, _number(draw))


def _stronger(parent: Variant, draw: Drawing) -> Variant | None:
    """Raise the strength of an operator that has a higher one."""
    known = [(name, strength or operators.named(name).usual) for name, strength in parent.operators]
    higher = [name for name, strength in known if strength < operators.named(name).strengths[-1]]
    if not higher:
        return None
    chosen = draw.choice(higher)
    raised = tuple((name, strength + (name == chosen)) for name, strength in known)
    return Variant(parent.task, raised, parent.number)


def _more(parent: Variant, draw: Drawing) -> Variant | None:
    """Add an operator, with those that it needs."""
    names = {name for name, _ in parent.operators}
    left = [each for each in operators.OPERATORS if each.name not in names]
    if not left:
        return None
    chosen = draw.choice(left)
    needed = [operators.named(name) for name in (*_needs(chosen.name), chosen.name)]
    added = tuple(
        (each.name, draw.choice(each.strengths)) for each in needed if each.name not in names
    )
    drawn = parent.number is not None or any(each.draws for each in needed)
    number = (parent.number or _number(draw)) if drawn else None
    return Variant(parent.task, (*parent.operators, *added), number)


def _needs(name: str) -> list[str]:
    """Name what an operator needs, and what that needs."""
    found: list[str] = []
    for other in operators.named(name).needs:
        found += [each for each in (*_needs(other), other) if each not in found]
    return found


def _number(draw: Drawing) -> int:
    return NUMBERS[0] + draw.below(len(NUMBERS))
