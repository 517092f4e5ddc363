import pytest

from graders import tests as grader
from sandbox.model.grade import CaseOutcome, CaseReport, OwnTests, TestRun
from sandbox.model.task import Task
from sandbox.model.task_tests import Cases
from sandbox.model.verdict import Verdict
from tests.graders.evidence import evidence, outcomes, task

NEW, OLD = "tests/test_a.py::test_new", "tests/test_a.py::test_old"


def test_every_expected_test_that_passed_is_a_pass() -> None:
    report = outcomes(outcomes={NEW: "passed", OLD: "passed", "tests/test_a.py::other": "failed"})
    grade = grader.grade(task(), evidence(tests=report))
    assert grade.verdict is Verdict.PASSED
    assert grade.facts["tier"] == "2"
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


def with_cases(*, alone: bool = False) -> Task:
    given = task()
    cases = Cases(file="cases.yaml", fail_to_pass=("new",), pass_to_pass=("old",))
    update: dict[str, object] = {"cases": cases}
    if alone:
        update |= {"fail_to_pass": (), "pass_to_pass": ()}
    return given.model_copy(update={"tests": given.tests.model_copy(update=update)})


def report(**found: CaseOutcome) -> CaseReport:
    return CaseReport(seed="s", outcomes=found)


RIGHT = CaseOutcome(outcome="passed", calls=3)
WRONG = CaseOutcome(outcome="failed", calls=2, problem="with 1: gave 2, not 3")


def test_a_verdict_says_what_it_rests_on() -> None:
    passed = evidence(tests=outcomes(cases=report(new=RIGHT, old=RIGHT)))
    both = grader.grade(with_cases(), passed)
    assert both.verdict is Verdict.PASSED
    assert (both.facts["tier"], both.facts["cases"], both.facts["calls"]) == ("1+2", 2, 6)
    alone = outcomes(outcomes={}, cases=report(new=RIGHT, old=RIGHT))
    grade = grader.grade(with_cases(alone=True), evidence(tests=alone))
    assert (grade.verdict, grade.facts["tier"]) == (Verdict.PASSED, "1")


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        (None, "could not be run"),
        (report(new=WRONG, old=RIGHT), "new, which has to be fixed, failed with 1: gave 2, not 3"),
        (report(new=RIGHT), "old, which passed before, did not run"),
        (CaseReport(seed="s", outcomes={}, problem="forged", tampering=True), "relied on: forged"),
    ],
)
def test_a_case_that_did_not_pass_fails(cases: CaseReport | None, said: str) -> None:
    grade = grader.grade(with_cases(), evidence(tests=outcomes(cases=cases)))
    assert grade.verdict is Verdict.FAILED
    assert any(said in reason.message for reason in grade.reasons)


FAILS, PASSES = TestRun(failed=1, passed=2), TestRun(passed=3)


@pytest.mark.parametrize(
    ("own", "problem"),
    [
        (OwnTests(without_fix=FAILS, with_fix=PASSES), None),
        (OwnTests(without_fix=TestRun(problem="no such name"), with_fix=PASSES), None),
        (OwnTests(without_fix=PASSES, with_fix=PASSES), "passes without the fix as well"),
        (OwnTests(without_fix=FAILS, with_fix=FAILS), "2 tests passed and 1 failed"),
        (OwnTests(without_fix=TestRun(), with_fix=TestRun()), "0 tests passed and 0 failed"),
        (OwnTests(without_fix=FAILS, with_fix=TestRun(problem="too long")), "too long"),
        (None, "is not there"),
    ],
)
def test_a_test_that_was_asked_for_fails_without_the_fix_and_passes_with_it(
    own: OwnTests | None, problem: str | None
) -> None:
    tests = task().tests.model_copy(update={"own": ("tests/test_mine.py",)})
    given = task().model_copy(update={"tests": tests})
    report = outcomes().model_copy(
        update={"own": {} if own is None else {"tests/test_mine.py": own}}
    )
    reasons = grader.grade(given, evidence(tests=report)).reasons
    assert [reason.path for reason in reasons] == (
        [] if problem is None else ["tests/test_mine.py"]
    )
    assert all(str(problem) in reason.message for reason in reasons)


def test_evidence_of_a_version_that_ran_none_is_judged_without_them() -> None:
    tests = task().tests.model_copy(update={"own": ("tests/test_mine.py",)})
    given = task().model_copy(update={"tests": tests})
    assert grader.grade(given, evidence()).reasons == ()
