"""The search for hard variants: what is kept, and what is drawn from it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.rules.checker.check import check
from sandbox.tasks import library
from sandbox.tasks.plans import operators
from sandbox.tasks.plans.variant import Variant
from sandbox.tasks.suites.hardening import Search, Tried, costless, kept

TASK = "qs/guard-once"


def tried(variant: str, *passed: int, runs: int = 2, solvable: bool = True) -> Tried:
    counts = {f"agent {number}": count for number, count in enumerate(passed)}
    return Tried(variant=variant, passed=counts, runs=runs, solvable=solvable)


def test_what_is_hard_or_tells_agents_apart_is_kept_and_nothing_that_cannot_be_solved() -> None:
    easy, unsolved = tried("easy", 2, 2), tried("unsolved", 0, 0, solvable=False)
    apart, hard, harder = tried("apart", 2, 0), tried("hard", 1, 1), tried("harder", 0, 0)
    every = [easy, hard, unsolved, harder, apart]
    assert [each.variant for each in kept(every, 10)] == ["apart", "harder", "hard"]
    assert [each.variant for each in kept(every, 4)] == ["apart", "harder"]
    assert kept([easy, unsolved], 4) == []


def test_operators_cost_nothing_where_no_run_failed_with_any_strength_of_them() -> None:
    found = [
        tried(f"{TASK}+final-check.1+scarcity.1", 2, 2),
        tried(f"{TASK}+scarcity.5", 2, 1),
        tried(f"{TASK}+injection.1@3", 0, 0, solvable=False),
    ]
    assert costless(found) == ["final-check"]


def test_the_first_round_begins_with_the_tasks_and_the_next_one_with_what_is_kept() -> None:
    search = Search((TASK,), seed=1, population=4)
    first = search.wanted([])
    assert first[0] == TASK
    assert len(set(first)) == 4
    results = [tried(name, 2, 2) for name in first[:-1]] + [tried(first[-1], 0, 1)]
    second = search.wanted(results)
    assert not {*second} & {*first}
    base = {name for name, _ in Variant.parse(first[-1]).operators}
    assert all(base <= {name for name, _ in Variant.parse(each).operators} for each in second)


def test_where_nothing_is_left_to_draw_there_are_fewer() -> None:
    search = Search((TASK,), seed=1, population=3)
    every = [tried(name, 2, 2) for name in search.wanted([])]
    for _ in range(3):
        every += [tried(name, 2, 2) for name in search.wanted(every)]
    assert len({each.variant for each in every}) == len(every) == 12


@pytest.mark.slow
@settings(max_examples=3)
@given(st.integers(0, 1000), st.lists(st.integers(0, 2), min_size=4, max_size=4))
def test_every_draw_is_sound_and_the_same_again(seed: int, passed: list[int]) -> None:
    search = Search((TASK,), seed=seed, population=4)
    first = search.wanted([])
    results = [tried(name, count) for name, count in zip(first, passed, strict=True)]
    second = search.wanted(results)
    assert second == search.wanted(results)
    for name in (*first, *second):
        loaded = library.load(name)
        assert loaded.task.id == name == str(operators.canonical(Variant.parse(name)))
        assert check(loaded.task).sound
