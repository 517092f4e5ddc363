from typing import Literal

import pytest
from pydantic import JsonValue

from graders import final as grader
from sandbox.model.grade import Verdict
from sandbox.model.task import FinalField
from tests.graders.evidence import evidence, task


def test_an_answer_of_the_right_types_and_values_passes() -> None:
    grade = grader.grade(task(), evidence(final={"cause": "x", "count": 2, "more": None}))
    assert grade.verdict is Verdict.PASSED
    assert grade.facts["fields"] == 2


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (None, "cause, count"),
        ({"cause": "x"}, "count"),
        ({"cause": "x", "count": 3}, "count"),
        ({"cause": "x", "count": 2.0}, "count"),
        ({"cause": "x", "count": "2"}, "count"),
        ({"cause": None, "count": 2}, "cause"),
        ({"cause": ["x"], "count": 2}, "cause"),
    ],
)
def test_what_is_missing_or_of_another_type_fails(
    answer: dict[str, JsonValue] | None, named: str
) -> None:
    grade = grader.grade(task(), evidence(final=answer))
    assert grade.verdict is Verdict.FAILED
    assert len(grade.reasons) == 1
    assert named in grade.reasons[0].message


@pytest.mark.parametrize(
    ("kind", "expect", "value", "right"),
    [
        ("integer", 1, True, False),
        ("boolean", True, 1, False),
        ("boolean", False, False, True),
        ("number", 3, 3.0, True),
        ("number", 1, True, False),
        ("list", [1, "a"], [1, "a"], True),
        ("list", [1], [True], False),
        ("list", [1, 2], [2, 1], False),
        ("string", "", "", True),
        ("string", None, "anything", True),
        ("list", None, "x", False),
    ],
)
def test_types_are_exact(
    kind: Literal["string", "integer", "number", "boolean", "list"],
    expect: JsonValue,
    value: JsonValue,
    right: bool,
) -> None:
    asked = {"field": FinalField(type=kind, expect=expect)}
    grade = grader.grade(task(final=asked), evidence(final={"field": value}))
    assert (grade.verdict is Verdict.PASSED) is right


def test_nothing_asked_needs_no_answer() -> None:
    assert grader.grade(task(final={}), evidence(final=None)).verdict is Verdict.PASSED
