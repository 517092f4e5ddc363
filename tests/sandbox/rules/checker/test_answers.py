"""A known way whose answer is not the expected one makes a task unsound."""

import pytest
from pydantic import JsonValue

from sandbox.model.final import TRUE_VALUE
from sandbox.model.task import ScriptedAction, Task
from sandbox.rules.checker.check import check
from sandbox.tasks import library

TASK = library.load("qs/guard-once").task
RIGHT: dict[str, JsonValue] = {"page": "docs/guards.md", "rule": "G1", "suite_passed": True}


def answering(fields: dict[str, JsonValue]) -> ScriptedAction:
    return ScriptedAction(action="final_answer", arguments={"fields": fields})


def said(task: Task) -> list[str]:
    return [each.message for each in check(task).findings if each.kind == "answer"]


@pytest.mark.parametrize(
    ("more", "problems"),
    [
        ({}, []),
        ({"page": TRUE_VALUE}, []),
        ({"rule": "G2"}, ["rule is 'G2', not 'G1'"]),
        ({"suite_passed": 1}, ["suite_passed is 1, which is no boolean"]),
        ({"extra": 1, "page": 3}, ["nothing asks for extra", "page is 3, which is no string"]),
    ],
)
def test_what_the_oracle_answers_is_compared_as_a_run_of_it_is(
    more: dict[str, JsonValue], problems: list[str]
) -> None:
    task = TASK.model_copy(update={"oracle": (*TASK.oracle[:-1], answering({**RIGHT, **more}))})
    whole = [f"The answer of the oracle is not what is expected: {each}." for each in problems]
    assert said(task) == whole
    assert not problems or not check(task).sound


def test_so_is_that_of_another_oracle() -> None:
    fields = {name: value for name, value in RIGHT.items() if name != "rule"}
    others = {"short": (answering(fields),)}
    found = said(TASK.model_copy(update={"other_oracles": others}))
    assert found == ["The answer of the oracle short is not what is expected: rule is missing."]
