"""Rows of candidates that were graded again, each of which can say that a task does not hold."""

from sandbox.grading.proof import Proof
from sandbox.model.grade import (
    CaseOutcome,
    CaseReport,
    Grade,
    Reason,
    RunGrade,
    TestOutcome,
    TestReport,
)
from sandbox.model.job import Job, JobResult
from sandbox.model.task_tests import Cases
from sandbox.model.verdict import Verdict
from sandbox.run.validate.agent_runs import Ran, no_oracle, order_row
from sandbox.run.validate.candidate_grading import Regraded
from sandbox.run.validate.checks import Check, Row
from sandbox.run.validate.hunks import Hunk
from sandbox.run.validate.proof_rows import base_row, declared_row, gold_row, gradings_row, hunk_row
from tests.sandbox.worlds import task

TASK = task()
HUNK = Hunk("src/a.py", 1, "    a = 1\n", None)


def report(**outcomes: TestOutcome) -> TestReport:
    return TestReport(outcomes=outcomes)


def grade(*refused: str, rule: str = "") -> RunGrade:
    parts = tuple(
        Grade(
            grader=name,
            verdict=Verdict.FAILED if name in refused else Verdict.PASSED,
            reasons=(Reason(message=rule, rule=rule),) if rule else (),
        )
        for name in ("tests", "trajectory")
    )
    verdict = Verdict.FAILED if refused else Verdict.PASSED
    return RunGrade(run="r", task=TASK.id, task_digest="d", verdict=verdict, grades=parts)


def regraded(*refused: str, **outcomes: TestOutcome) -> Regraded:
    return Regraded(report(**outcomes), grade(*refused))


def test_a_base_on_which_the_tests_pass_already_does_not_hold() -> None:
    good = base_row(TASK, Proof(report=report(a="failed"), problems=()))
    assert (good.holds, good.result) == (True, "1 fail, 0 pass")
    bad = base_row(TASK, Proof(report=report(a="passed"), problems=("a passes",)))
    assert (bad.holds, bad.notes) == (False, ("a passes",))


def test_cases_count_as_tests_do() -> None:
    named = TASK.tests.model_copy(
        update={"cases": Cases(file="f", fail_to_pass=("x",), pass_to_pass=("y",))}
    )
    cased = TASK.model_copy(update={"tests": named})
    right, wrong = (CaseOutcome(outcome=each, calls=1) for each in ("passed", "failed"))
    base = report(a="failed").model_copy(
        update={"cases": CaseReport(seed="s", outcomes={"x": wrong, "y": right})}
    )
    assert base_row(cased, Proof(report=base, problems=())).result == "2 fail, 1 pass"
    other = report(a="failed").model_copy(
        update={"cases": CaseReport(seed="t", outcomes={"x": right, "y": right})}
    )
    row = gradings_row(cased, [Regraded(each, grade()) for each in (base, other)], "r")
    assert row.notes == ("case x has other outcomes from time to time",)


def test_an_oracle_whose_tests_do_not_pass_does_not_hold() -> None:
    many = tuple(f"test {number}" for number in range(5))
    bad = gold_row(TASK, Proof(report=report(), problems=many), "r")
    assert not bad.holds
    assert bad.notes == (*many[:3], "and 2 more")


def test_gradings_that_differ_do_not_hold() -> None:
    assert gradings_row(TASK, [regraded(a="passed")] * 3, "r").holds
    flaky = gradings_row(TASK, [regraded(a="passed"), regraded("tests", a="failed")], "r")
    assert not flaky.holds
    assert flaky.result == "passed 1, failed 1"
    assert flaky.notes == (
        "refused 1 times, by tests",
        "a has other outcomes from time to time",
    )
    unseen = gradings_row(TASK, [regraded(a="passed", b="failed"), regraded(a="passed")], "r")
    assert unseen.notes == ("b has other outcomes from time to time",)


def test_a_hunk_that_nothing_needs_does_not_hold() -> None:
    assert hunk_row(TASK, HUNK, regraded("tests"), "r").holds
    bad = hunk_row(TASK, HUNK, regraded(), "r")
    assert bad.notes == ("the verdict is passed, so nothing needs it: a = 1",)


def test_a_hunk_that_is_called_redundant_has_to_be() -> None:
    declared = task(redundant=[{"path": "src/a.py", "holds": "a = 1", "reason": "It says so."}])
    assert hunk_row(declared, HUNK, regraded(), "r").holds
    assert not hunk_row(declared, HUNK, regraded("tests"), "r").holds


def test_a_redundant_hunk_that_is_not_there_does_not_hold() -> None:
    declared = task(redundant=[{"path": "src/a.py", "holds": "b = 1", "reason": "It says so."}])
    assert declared_row(TASK, [HUNK]).holds
    assert declared_row(declared, [HUNK]).notes == ("no hunk of src/a.py holds 'b = 1'",)
    assert not declared_row(declared, [HUNK]).holds


def ran(found: RunGrade | None) -> Ran:
    job = Job(task=TASK.id, task_digest="d", agent="x", trial=1)
    verdict = Verdict.ERROR if found is None else found.verdict
    return Ran(JobResult(job=job, run="r", verdict=verdict), found)


def ordered(first: RunGrade | None, again: RunGrade | None) -> Row:
    return order_row(TASK.id, {"x": ran(first)}, {"x": ran(again)}, "backwards")


def test_agents_that_end_otherwise_in_another_order_do_not_hold() -> None:
    assert ordered(grade(), grade()).holds
    assert not ordered(grade(), grade("tests")).holds
    assert not ordered(grade("tests"), grade("tests", rule="a")).holds
    assert not ordered(grade(), None).holds


def test_without_an_oracle_that_passes_nothing_that_rests_on_it_holds() -> None:
    assert no_oracle(TASK.id, Check.HUNKS, ran(grade("tests"))).status == "bad"
    assert no_oracle(TASK.id, Check.HUNKS, ran(None)).status == "error"
