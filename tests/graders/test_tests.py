import pytest

from graders import tests as grader
from sandbox.model.grade import Verdict
from tests.graders.evidence import evidence, outcomes, task

NEW, OLD = "tests/test_a.py::test_new", "tests/test_a.py::test_old"


def test_every_expected_test_that_passed_is_a_pass() -> None:
    report = outcomes(outcomes={NEW: "passed", OLD: "passed", "tests/test_a.py::other": "failed"})
    grade = grader.grade(task(), evidence(tests=report))
    assert grade.verdict is Verdict.PASSED
    assert grade.facts["tier"] == 2
    assert (grade.facts["expected"], grade.facts["passed"]) == (2, 2)


@pytest.mark.parametrize("outcome", ["failed", "error", "skipped", "xfailed", "xpassed", None])
def test_nothing_but_passed_is_a_pass(outcome: str | None) -> None:
    found = {NEW: "passed", **({OLD: outcome} if outcome else {})}
    grade = grader.grade(task(), evidence(tests=outcomes(outcomes=found)))
    assert grade.verdict is Verdict.FAILED
    assert [reason.test for reason in grade.reasons] == [OLD]


def test_an_id_that_only_looks_alike_is_another_test() -> None:
    found = {NEW: "passed", f"./{OLD}": "passed", OLD + "[1]": "passed"}
    assert grader.grade(task(), evidence(tests=outcomes(outcomes=found))).verdict is Verdict.FAILED


def test_no_expectation_is_no_pass() -> None:
    nothing = task().tests.model_copy(update={"fail_to_pass": (), "pass_to_pass": ()})
    assert grader.grade(task(tests=nothing), evidence()).verdict is Verdict.FAILED


def test_outcomes_with_a_problem_or_none_fail() -> None:
    grade = grader.grade(task(), evidence(tests=outcomes(problem="the runner died")))
    assert grade.verdict is Verdict.FAILED
    assert "the runner died" in grade.reasons[0].message
    assert grader.grade(task(), evidence(tests=None)).verdict is Verdict.FAILED
