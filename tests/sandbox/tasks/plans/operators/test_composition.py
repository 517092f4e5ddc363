"""Operators composed: in any order the same task, sound, and nothing of one is lost to another."""

import os
import subprocess
import sys
from functools import cache

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from sandbox.model.errors import UsageError
from sandbox.model.layer import Layer
from sandbox.rules.checker.check import check
from sandbox.tasks import library
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.plans.operators import OPERATORS, canonical
from sandbox.tasks.plans.variant import NUMBERS, Variant

TASKS = library.names()
BY_NAME = {operator.name: operator for operator in OPERATORS}
REPLACED = {
    "denied-approval": {"closed-last"},
}
"""By operator: the rules for which it has others, as what they are about is not done any more."""

BOUNDED = {
    "scarcity": {"approvals-are-scarce": "request_approval", "questions-are-scarce": "ask_user"},
}
"""By operator: rules that it adds where the oracle takes an action, be it another operator's."""

BESIDE = {"handbook": ("leftovers.4",)}
"""By operator: what gives it something to work on, at that strength or above."""


@cache
def loaded(name: str) -> LoadedTask | None:
    """Load a variant; None where an operator does not fit the task."""
    try:
        return library.load(name)
    except UsageError as error:
        if "cannot be applied" not in error.message:
            raise
        return None


def complete(names: set[str]) -> list[str]:
    """Return operators with what they need, in order."""
    for operator in reversed(OPERATORS):
        if operator.name in names:
            names = names.union(operator.needs)
    return [operator.name for operator in OPERATORS if operator.name in names]


@st.composite
def variants(draw: st.DrawFn) -> Variant:
    names = complete(set(draw(st.lists(st.sampled_from(sorted(BY_NAME)), max_size=6))))
    assume(all(other not in names for name in names for other in BY_NAME[name].excludes))
    chosen = tuple((name, draw(st.sampled_from(BY_NAME[name].strengths))) for name in names)
    draws = any(BY_NAME[name].draws for name in names)
    number = draw(st.sampled_from(NUMBERS)) if draws else None
    return Variant(draw(st.sampled_from(TASKS)), chosen, number)


@cache
def added(task: str, name: str, strength: int) -> frozenset[str]:
    """Return the rules that an operator adds to a task with what it needs."""
    needed = [each for each in complete({name}) if each != name]
    before = loaded("+".join((task, *needed)))
    after = loaded("+".join((task, *needed, f"{name}.{strength}")))
    if before is None or after is None:
        return frozenset()
    return frozenset(rule.id for rule in after.task.rules) - {rule.id for rule in before.task.rules}


@settings(max_examples=20)
@example(Variant.parse("cjson/planes+change-desk.1+moving-world.4+final-check.1@1"))
@example(Variant.parse("cjson/planes+change-desk.1+single-use-approval.1+scarcity.1@1"))
@given(variants())
@pytest.mark.slow
def test_any_set_that_fits_is_sound_and_loses_nothing(variant: Variant) -> None:
    made, base = loaded(str(variant)), library.load(variant.task)
    assume(made is not None)
    assert made is not None
    report = check(made.task)
    assert report.sound, report.findings
    rules = {rule.id for rule in made.task.rules}
    expected = {rule.id for rule in base.task.rules}
    for name, strength in variant.operators:
        expected |= added(variant.task, name, strength or 1)
        expected -= REPLACED.get(name, set())
        taken = {each.action for each in made.task.oracle}
        expected |= {rule for rule, action in BOUNDED.get(name, {}).items() if action in taken}
    assert rules == expected
    assert {witness.rule for witness in report.witnesses if witness.path or witness.implied_by} == {
        rule.id for rule in made.task.rules if rule.hard
    }
    assert len(made.task.oracle) >= len(base.task.oracle)
    assert len(made.task.oracle) <= made.task.limits.turns
    assert all(len(each) <= made.task.limits.turns for each in made.task.other_oracles.values())
    kept = set(base.task.other_oracles) - set(made.task.other_oracles)
    assert not kept or "tight-budget" in dict(variant.operators)


@pytest.mark.thorough
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_every_strength_is_sound_on_every_task_that_it_fits(operator: object, task: str) -> None:
    name = operator.name  # type: ignore[attr-defined]
    needed = [each for each in complete({name}) if each != name]
    for strength in BY_NAME[name].strengths:
        made = loaded("+".join((task, *needed, f"{name}.{strength}")))
        if made is not None:
            report = check(made.task)
            assert report.sound, (strength, report.findings)


@pytest.mark.slow
@given(variants(), st.randoms(use_true_random=False))
def test_the_order_in_the_name_does_not_matter(variant: Variant, random: object) -> None:
    order = list(variant.operators)
    random.shuffle(order)  # type: ignore[attr-defined]
    other = Variant(variant.task, tuple(order), variant.number)
    assert canonical(other) == canonical(variant)
    first, second = loaded(str(variant)), loaded(str(other))
    assert (first and (first.task, first.digest)) == (second and (second.task, second.digest))


@settings(max_examples=12)
@given(variants(), st.sampled_from(NUMBERS))
def test_a_number_changes_values_and_nothing_else(variant: Variant, number: int) -> None:
    assume(variant.number not in (None, number))
    first = loaded(str(variant))
    second = loaded(str(Variant(variant.task, variant.operators, number)))
    assume(first is not None)
    assert first is not None
    assert second is not None
    assert first.digest != second.digest
    assert [action.action for action in first.task.oracle] == [
        action.action for action in second.task.oracle
    ]
    assert [rule.id for rule in first.task.rules] == [rule.id for rule in second.task.rules]
    assert check(first.task).pattern == check(second.task).pattern


def test_a_task_itself_has_no_layer() -> None:
    assert all(library.load(name).task.world.layer == Layer() for name in TASKS)


@pytest.mark.slow
def test_a_variant_is_the_same_in_every_process() -> None:
    name = "humanize/file-sizes+tight-budget+final-check+change-desk+decoy-tools.5@77"
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
        ("zzz", "There is no operator 'zzz'", "docs/operators.md has all"),
        ("Tight", "'Tight' is not an operator's name", "TASK+tight-budget.4"),
        ("", "'' is not an operator's name", "TASK+tight-budget.4"),
        ("tight-budget.6", "tight-budget has strengths 1 to 5, not 6", "Choose one"),
        ("tight-budget.0", "tight-budget has strengths 1 to 5, not 0", "Choose one"),
        ("final-check.2", "final-check has the strength 1 alone, not 2", "Choose one"),
        ("tight-budget.99999999999999999999", "is not an operator's name", "TASK+tight-budget.4"),
        ("scarcity+scarcity", "scarcity stands twice", "Name it once"),
        ("stale-record", "stale-record needs change-desk, which is not there", "Add +change-desk."),
        (
            "injection+injection-twin",
            "injection and injection-twin cannot be composed",
            "Leave one",
        ),
        ("scarcity@3", "nothing in it is drawn", "Leave @3 out"),
        ("injection@0", "its number is '0'", "from 1 to 1000000"),
        ("injection@1000001", "its number is '1000001'", "from 1 to 1000000"),
        ("injection@x", "its number is 'x'", "from 1 to 1000000"),
        ("injection@", "its number is ''", "from 1 to 1000000"),
    ],
)
def test_what_is_no_variant_is_told(name: str, said: str, next_step: str) -> None:
    with pytest.raises(UsageError) as caught:
        library.load(f"humanize/file-sizes+{name}")
    assert said in caught.value.message
    assert next_step in caught.value.next_step


def test_the_number_stands_in_the_name_where_it_matters() -> None:
    assert library.load("qs/guard-once+scarcity").task.id == "qs/guard-once+scarcity.3"
    assert library.load("qs/guard-once+injection").task.id == "qs/guard-once+injection.3@1"


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
        needed = "+".join((*BESIDE.get(operator.name, ()), *complete({operator.name})))
        assert any(loaded(f"{task}+{needed}") for task in TASKS), operator.name
