import pytest

from sandbox.grading.proof import base_problems, gold_problems
from sandbox.model.grade import CaseOutcome, CaseReport, TestOutcome, TestReport
from sandbox.model.task_tests import Cases
from tests.graders.evidence import outcomes, task

NEW, OLD = "tests/test_a.py::test_new", "tests/test_a.py::test_old"


def report(**found: TestOutcome) -> TestReport:
    names = {"new": NEW, "old": OLD}
    return outcomes(outcomes={names[name]: outcome for name, outcome in found.items()})


@pytest.mark.parametrize("outcome", ["failed", "error", "skipped"])
def test_a_base_that_is_as_recorded_has_no_problem(outcome: TestOutcome) -> None:
    assert list(base_problems(task(), report(new=outcome, old="passed"))) == []
    assert list(base_problems(task(), report(old="passed"))) == []


def test_a_base_that_is_not_as_recorded_is_told_by_test() -> None:
    assert list(base_problems(task(), report(new="passed", old="failed"))) == [
        f"{NEW} is to fail before the fix, and passes",
        f"{OLD} is to pass before the fix, and ended as failed",
    ]
    forged = outcomes(outcomes={}, problem="forged", tampering=True)
    assert "tampering" in next(base_problems(task(), forged))


def test_a_solved_repository_passes_every_test() -> None:
    assert list(gold_problems(task(), report(new="passed", old="passed"))) == []
    assert list(gold_problems(task(), report(new="skipped"))) == [
        f"{NEW} is to pass when the task is solved, and ended as skipped",
        f"{OLD} is to pass when the task is solved, and did not run",
    ]
    assert list(
        gold_problems(
            task(), report(new="passed", old="passed").model_copy(update={"problem": "too slow"})
        )
    ) == ["the tests of a solved repository do not run: too slow"]


def test_cases_are_recorded_like_tests() -> None:
    given = task()
    cases = Cases(file="cases.yaml", fail_to_pass=("new",), pass_to_pass=("old",))
    given = given.model_copy(update={"tests": given.tests.model_copy(update={"cases": cases})})

    def told(**outcomes: str) -> TestReport:
        found = {
            name: CaseOutcome.model_validate({"outcome": outcome, "calls": 1, "problem": "so"})
            for name, outcome in outcomes.items()
        }
        update = {"cases": CaseReport(seed="s", outcomes=found)}
        return report(new="failed", old="passed").model_copy(update=update)

    assert list(base_problems(given, told(new="failed", old="passed"))) == []
    assert list(base_problems(given, told(new="passed", old="failed"))) == [
        "the case new is to fail before the fix, and passes",
        "the case old is to pass before the fix, and failed so",
    ]
    solved = told(old="passed").model_copy(update={"outcomes": {NEW: "passed", OLD: "passed"}})
    assert list(gold_problems(given, solved)) == [
        "the case new is to pass when the task is solved, and did not run"
    ]
