"""Specifications drawn from a number, of which each clause can be noticed for itself."""

import re
from collections.abc import Callable
from typing import ClassVar

from sandbox.tasks.features.clause import (
    Amendment,
    Both,
    Clause,
    Exemption,
    Later,
    Refusal,
    Rule,
    Term,
)
from sandbox.tasks.features.noticed import unnoticed
from sandbox.tasks.features.parts import Condition, Words, kinds
from sandbox.tasks.features.specification import Specification, in_sections
from sandbox.tasks.plans.drawing import Drawing

LEAST, MOST = 20, 60
"""How many clauses there can be."""
ROUNDS = 200
PATIENCE = 6
"""After how many rounds other clauses are drawn anew as well, those that a lost one speaks of and a
rule: what is left may leave no room for what is wanted, such as a rule that uses a word."""


def drawn(count: int, number: int) -> Specification:
    """Draw a specification with so many clauses, the same for the same number."""
    return _Draw(count, number).made()


class _Draw:
    def __init__(self, count: int, number: int) -> None:
        self._drawing = Drawing("clauses", count, number)
        self._words = Words(self._drawing)
        self._count = count
        self._clauses: list[Clause] = []
        self._key = 0
        self._cents = 200 + 10 * self._drawing.below(60)
        self._days = 2 + self._drawing.below(4)

    def made(self) -> Specification:
        """Draw clauses, leave out those that nobody would notice, and draw others for them."""
        for turn in range(ROUNDS):
            while len(self._clauses) < self._count:
                self._add()
            found = self._specification()
            lost = unnoticed(found)
            if not lost:
                return found
            if turn >= PATIENCE:
                lost |= {other for key in lost for other in found.by_key[key].refers()}
                rule = self._free_rule()
                lost |= {rule.key} if rule else set()
            self._leave_out(lost)
        raise AssertionError(f"no {self._count} clauses were found that are all noticed")

    def _specification(self) -> Specification:
        return Specification(
            clauses=in_sections(self._clauses),
            fields=self._words.fields(),
            lists=self._words.lists,
            cents=self._cents,
            days=self._days,
            kind=self._words.classes[0],
        )

    def _leave_out(self, keys: set[int]) -> None:
        """Leave clauses out, and those that speak of them."""
        while True:
            left = [each for each in self._clauses if each.key not in keys]
            lost = {each.key for each in left if keys & set(each.refers())}
            self._clauses = left
            if not lost:
                return
            keys = lost

    def _add(self) -> None:
        self._key += 1
        for kind, one_in, make in self._KINDS:
            there = sum(isinstance(each, kind) for each in self._clauses)
            if there < max(1, self._count // one_in):
                made = make(self)
                if made is not None:
                    self._clauses.append(made)
                    return
        self._clauses.append(self._rule())

    def _refusal(self) -> Clause | None:
        taken = {each.name for each in self._clauses if isinstance(each, Refusal)}
        fit = [
            (name, each.refused)
            for name, each in kinds().fields.items()
            if each.refused and name not in taken
        ]
        if not fit:
            return None
        name, (least, greatest) = self._drawing.choice(fit)
        return Refusal(self._key, name, least, greatest)

    def _term(self) -> Clause | None:
        taken = {each.word for each in self._clauses if isinstance(each, Term)}
        fit = [word for word in self._words.terms if word not in taken]
        one = self._words.condition()
        other = self._words.condition(one.draws)
        return Term(self._key, fit[0], one | other) if fit else None

    def _rule(self) -> Clause:
        """Draw a rule of one or two conditions, perhaps with a word that is explained elsewhere."""
        effect = self._words.charge() if self._drawing.below(5) < 3 else self._words.delivery()
        conditions: list[Condition] = []
        terms: tuple[int, ...] = ()
        words = [each for each in self._clauses if isinstance(each, Term)]
        unused = [each for each in words if not self._speaking(each.key)]
        if words and (unused or self._drawing.below(4) == 0):
            term = self._drawing.choice(unused or words)
            conditions.append(
                Condition(f"the parcel is {term.word}", term.word, term.condition.draws)
            )
            terms = (term.key,)
        if not conditions or self._drawing.below(3) == 0:
            fields = [name for each in conditions for name in each.draws]
            conditions.append(self._words.condition(fields))
        if len(conditions) == 1 and self._drawing.below(3) == 0:
            state = effect.kind in kinds().charges.values()
            conditions.append(self._words.condition(conditions[0].draws, state=state))
        return Rule(self._key, effect, tuple(conditions), terms)

    def _speaking(self, key: int) -> bool:
        return any(key in each.refers() for each in self._clauses)

    def _exemption(self) -> Clause | None:
        rule = self._free_rule()
        if rule is None:
            return None
        return Exemption(self._key, rule.key, self._words.condition(self._fields(rule)))

    def _amendment(self) -> Clause | None:
        rule = self._free_rule(_has_one_amount)
        if rule is None:
            return None
        was = rule.effect.values[rule.effect.kind.amount]
        assert isinstance(was, int)  # noqa: S101 - amounts are
        amount = self._words.amount(rule.effect)
        condition = self._words.condition(self._fields(rule))
        return Amendment(self._key, rule.key, condition, amount, was)

    def _both(self) -> Clause | None:
        one = self._free_rule()
        if one is None:
            return None
        fields = self._fields(one)
        other = self._free_rule(
            lambda each: each.key != one.key and not fields & self._fields(each)
        )
        if other is None:
            return None
        effect = self._words.charge() if self._drawing.below(2) else self._words.delivery()
        return Both(self._key, effect, (one.key, other.key))

    def _later(self) -> Clause | None:
        """Draw one of two rules whose order matters: the first is moved behind the other."""
        first = self._free_rule(lambda each: bool(each.effect.kind.order))
        if first is None:
            return None
        fields, order = self._fields(first), first.effect.kind.order
        after = self._free_rule(
            lambda each: (
                each.key > first.key
                and each.effect.kind.order not in ("", order)
                and not fields & self._fields(each)
            )
        )
        return Later(self._key, first.key, after.key) if after else None

    def _free_rule(self, fits: Callable[[Rule], bool] = lambda _: True) -> Rule | None:
        """Draw a rule that no other clause changes or looks at."""
        fit = [
            each
            for each in self._clauses
            if isinstance(each, Rule) and not self._speaking(each.key) and fits(each)
        ]
        return self._drawing.choice(fit) if fit else None

    def _fields(self, rule: Rule) -> set[str]:
        return set(rule.draws({}))

    _KINDS: ClassVar[tuple[tuple[type[Clause], int, Callable[["_Draw"], Clause | None]], ...]] = (
        (Refusal, 12, _refusal),
        (Term, 10, _term),
        (Exemption, 7, _exemption),
        (Amendment, 9, _amendment),
        (Both, 14, _both),
        (Later, 16, _later),
    )
    """Kinds of clause, of how many clauses one is of it, and how one is drawn; all others are
    rules."""


def _has_one_amount(rule: Rule) -> bool:
    """Whether it is plain which number another clause means that gives another amount."""
    name = rule.effect.kind.amount
    numbers = re.findall(r"[0-9]+", rule.says({}))
    return bool(name) and numbers.count(str(rule.effect.values[name])) == 1
