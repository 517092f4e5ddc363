import pytest

from sandbox.grading.proof import base_problems, gold_problems
from sandbox.model.grade import TestOutcome, TestReport
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
