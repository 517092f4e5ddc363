"""Tight budget: a stated multiple of the oracle's way, told in the prompt and in each reply."""

import math

import pytest

from sandbox.tasks import library

MULTIPLES = {1: 3.0, 2: 2.0, 3: 1.5, 4: 1.25, 5: 1.1}


@pytest.mark.parametrize("strength", MULTIPLES)
@pytest.mark.parametrize("name", ["cjson/planes", "humanize/file-sizes"])
def test_the_budget_is_so_many_times_the_oracles_way(name: str, strength: int) -> None:
    task = library.load(f"{name}+tight-budget.{strength}").task
    assert task.limits.turns == math.ceil(MULTIPLES[strength] * len(task.oracle))
    assert f"You have {task.limits.turns} actions for all of it" in task.prompt


def test_it_is_measured_when_all_else_is_there() -> None:
    task = library.load("humanize/file-sizes+tight-budget.5+final-check").task
    assert len(task.oracle) == 18
    assert task.limits.turns == 20


def test_nothing_but_limit_prompt_and_oracles_changes() -> None:
    base = library.load("qs/guard-once").task
    task = library.load("qs/guard-once+tight-budget").task
    changed = {
        name for name in type(task).model_fields if getattr(task, name) != getattr(base, name)
    }
    assert changed <= {"id", "prompt", "limits", "other_oracles"}
