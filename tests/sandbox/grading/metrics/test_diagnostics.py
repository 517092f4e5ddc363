"""Diagnostics: repeated calls count as often as they come, and order is told from selection."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from sandbox.grading.metrics.action_calls import Call
from sandbox.grading.metrics.diagnostics import common_subsequence, rates
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.report import Ratio
from sandbox.model.task import ScriptedAction, Task
from tests.sandbox.worlds import task

Deed = tuple[str, dict[str, JsonValue]]

READ_A: Deed = ("read_file", {"path": "a"})
READ_B: Deed = ("read_file", {"path": "b"})
TEST: Deed = ("run_tests", {})
DONE: Deed = ("final_answer", {"fields": {"x": 1}})


def call(
    name: str,
    arguments: dict[str, JsonValue],
    code: ErrorCode | None = None,
    **result: bool,
) -> Call:
    seen = Observation(status="error" if code else "ok", error_code=code, result={**result})
    return Call(event=0, name=name, arguments=arguments, decision=None, observation=seen)


def reference(*deeds: Deed) -> Task:
    oracle = tuple(ScriptedAction(action=name, arguments=each) for name, each in deeds)
    return task().model_copy(update={"oracle": oracle})


def ratio(found: dict[str, Ratio], name: str) -> tuple[float, float]:
    return found[name].numerator, found[name].denominator


def measured(*deeds: Deed) -> dict[str, Ratio]:
    calls = [call(name, arguments) for name, arguments in deeds]
    return rates(calls, reference(READ_A, READ_B, TEST, DONE))


def test_the_reference_itself_matches_in_all_respects() -> None:
    answered: Deed = ("final_answer", {"fields": {"x": 2}})
    spelt: Deed = ("run_tests", {"command": task().tests.command})
    found = measured(("read_file", {"path": "./a"}), READ_B, spelt, answered)
    assert {name for name, each in found.items() if each.value != 1} == set()


def test_selection_arguments_and_order_are_told_apart() -> None:
    found = measured(TEST, READ_B, READ_B, READ_A, DONE)
    assert ratio(found, "selection_precision") == (4, 5)
    assert ratio(found, "selection_recall") == (4, 4)
    assert ratio(found, "argument_match") == (4, 4)
    assert ratio(found, "order_match") == (3, 4)
    assert ratio(found, "match_any_order") == (1, 1)
    assert ratio(found, "match_in_order") == (0, 1)
    assert ratio(found, "match_exact") == (0, 1)


def test_repeated_calls_are_not_made_one_by_sets() -> None:
    found = measured(READ_A, DONE)
    assert ratio(found, "selection_recall") == (2, 4)
    wrong = measured(("read_file", {"path": "c"}), ("read_file", {"path": "d"}), TEST, DONE)
    assert ratio(wrong, "selection_recall") == (4, 4)
    assert ratio(wrong, "argument_match") == (2, 4)


def test_the_tool_of_a_server_is_what_is_chosen() -> None:
    right: dict[str, JsonValue] = {"server": "s", "tool": "find", "arguments": {"q": 1}}
    other: dict[str, JsonValue] = {"server": "s", "tool": "seek", "arguments": {"q": 1}}
    again: dict[str, JsonValue] = {**right, "arguments": {"q": 2}}
    for arguments, matched in ((right, 1), (again, 1), (other, 0)):
        found = rates([call("call_tool", arguments)], reference(("call_tool", right)))
        assert ratio(found, "selection_recall") == (matched, 1)


def test_name_schema_and_success_narrow_one_after_the_other() -> None:
    calls = [
        call("read_file", {}),
        call("read_file", {}, ErrorCode.NOT_FOUND),
        call("call_tool", {}, is_error=True),
        call("read_file", {}, ErrorCode.BAD_ARGUMENTS),
        call("reed_file", {}, ErrorCode.UNKNOWN_TOOL),
        call("?", {}, ErrorCode.BAD_REQUEST),
    ]
    found = rates(calls, None)
    assert ratio(found, "valid_name") == (4, 6)
    assert ratio(found, "valid_schema") == (3, 4)
    assert ratio(found, "call_success") == (1, 3)
    assert "selection_recall" not in found, "there is no reference"


def slowly(some: Sequence[str], others: Sequence[str]) -> int:
    """The longest common subsequence by trying all."""

    def holds(part: Sequence[str]) -> bool:
        left = iter(others)
        return all(each in left for each in part)

    sizes = (
        len(part)
        for size in range(len(some) + 1)
        for part in itertools.combinations(some, size)
        if holds(part)
    )
    return max(sizes)


@given(st.lists(st.sampled_from("abc"), max_size=7), st.lists(st.sampled_from("abc"), max_size=7))
def test_the_common_subsequence_is_the_longest(some: list[str], others: list[str]) -> None:
    assert common_subsequence(some, others) == slowly(some, others)


@pytest.mark.parametrize("count", [0, 1])
def test_a_run_without_calls_has_rates_of_nothing(count: int) -> None:
    found = rates([call("x", {})] * count, reference(READ_A))
    assert found["selection_recall"] == Ratio(numerator=0, denominator=1)
    assert found["argument_match"].value is None
