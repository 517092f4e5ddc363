"""Operators composed: in any order the same task, sound, and nothing of one is lost to another."""

import itertools
import os
import subprocess
import sys
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.model.errors import UsageError
from sandbox.rules.checker.check import check
from sandbox.tasks import library
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.plans.operators import OPERATORS, canonical
from sandbox.tasks.plans.variant import Variant

TASKS = library.names()
BY_NAME = {operator.name: operator for operator in OPERATORS}
RULES = {"final-check": "final-check", "scarcity": "tests-are-scarce"}
"""By operator: the rule that it adds; the budget is a limit and no rule."""


@cache
def loaded(name: str) -> LoadedTask | None:
    """Load a variant; None where an operator does not fit the task."""
    try:
        return library.load(name)
    except UsageError as error:
        if "cannot be applied" not in error.message:
            raise
        return None


@st.composite
def variants(draw: st.DrawFn) -> Variant:
    names = draw(st.lists(st.sampled_from(sorted(BY_NAME)), unique=True))
    chosen = tuple((name, draw(st.sampled_from(BY_NAME[name].strengths))) for name in names)
    return Variant(draw(st.sampled_from(TASKS)), chosen)


@given(variants())
def test_any_set_that_fits_is_sound_and_loses_nothing(variant: Variant) -> None:
    made, base = loaded(str(variant)), library.load(variant.task)
    if made is None:
        return
    report = check(made.task)
    assert report.sound, report.findings
    rules = {rule.id for rule in made.task.rules}
    added = {RULES[name] for name, _ in variant.operators if name in RULES}
    assert rules == {rule.id for rule in base.task.rules} | added
    alone = {each.rule for each in report.witnesses if each.path and not each.implied_by}
    assert added <= alone
    assert made.task.prompt.startswith(base.task.prompt.rstrip())
    assert len(made.task.prompt.split("\n\n")) == (
        len(base.task.prompt.split("\n\n")) + len(variant.operators)
    )
    longer = sum(name == "final-check" for name, _ in variant.operators)
    assert len(made.task.oracle) == len(base.task.oracle) + longer
    assert len(made.task.oracle) <= made.task.limits.turns
    assert all(len(each) <= made.task.limits.turns for each in made.task.other_oracles.values())
    kept = set(base.task.other_oracles) - set(made.task.other_oracles)
    assert not kept or "tight-budget" in dict(variant.operators)


@given(variants(), st.randoms(use_true_random=False))
def test_the_order_in_the_name_does_not_matter(variant: Variant, random: object) -> None:
    order = list(variant.operators)
    random.shuffle(order)  # type: ignore[attr-defined]
    other = Variant(variant.task, tuple(order))
    assert canonical(other) == canonical(variant)
    first, second = loaded(str(variant)), loaded(str(other))
    assert (first and (first.task, first.digest)) == (second and (second.task, second.digest))


def test_different_variants_have_different_digests() -> None:
    names = [
        f"qs/guard-once{first}{second}"
        for first, second in itertools.product(
            ("", "+scarcity.1", "+scarcity.2"), ("", "+tight-budget.1", "+tight-budget.5")
        )
    ]
    assert len({library.load(name).digest for name in names}) == len(names)


def test_a_variant_is_the_same_in_every_process() -> None:
    name = "humanize/file-sizes+tight-budget+final-check"
    source = f"from sandbox.tasks import library; print(library.load({name!r}).digest)"
    for seed in ("0", "1"):
        printed = subprocess.run(
            [sys.executable, "-c", source],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        assert printed.strip() == library.load(name).digest


@pytest.mark.parametrize(
    ("name", "said", "next_step"),
    [
        ("tight-budgett", "There is no operator 'tight-budgett'", "Did you mean tight-budget?"),
        ("Tight", "'Tight' is not an operator's name", "TASK+tight-budget.4"),
        ("", "'' is not an operator's name", "TASK+tight-budget.4"),
        ("tight-budget.6", "tight-budget has strengths 1 to 5, not 6", "Choose one"),
        ("tight-budget.0", "tight-budget has strengths 1 to 5, not 0", "Choose one"),
        ("final-check.2", "final-check has the strength 1 alone, not 2", "Choose one"),
        ("tight-budget.99999999999999999999", "is not an operator's name", "TASK+tight-budget.4"),
        ("scarcity+scarcity", "scarcity stands twice", "Name it once"),
    ],
)
def test_what_is_no_variant_is_told(name: str, said: str, next_step: str) -> None:
    with pytest.raises(UsageError) as caught:
        library.load(f"humanize/file-sizes+{name}")
    assert said in caught.value.message
    assert next_step in caught.value.next_step


def test_a_variant_of_no_task_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        library.load("humanize/file-size+scarcity")
    assert caught.value.next_step == "Did you mean humanize/file-sizes?"


def test_an_operator_that_does_not_fit_says_why() -> None:
    with pytest.raises(UsageError) as caught:
        library.load("django/negative-durations+final-check")
    assert caught.value.message == (
        "final-check cannot be applied to django/negative-durations:"
        " no rule of it wants tests to pass before a commit."
    )


def test_each_operator_fits_some_task_and_says_why_it_is_there() -> None:
    for operator in OPERATORS:
        assert operator.reason.endswith(".")
        assert any(loaded(f"{task}+{operator.name}") for task in TASKS), operator.name
