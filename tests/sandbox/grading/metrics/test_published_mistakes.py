"""Mistakes of published evaluation code, each shown not to be ours."""

from typing import Any

import pytest

from graders import collateral, final, trajectory
from graders import tests as hidden_tests
from sandbox.grading.metrics import recovery, steps
from sandbox.model.atom import Atom
from sandbox.model.change import Owner
from sandbox.model.final import FinalField
from sandbox.model.grade import TestReport
from sandbox.model.observation import ErrorCode
from sandbox.model.report import Ratio
from sandbox.model.rule import Precedes, Required
from sandbox.model.verdict import Verdict
from tests.graders.evidence import change, changes, evidence, outcomes, task
from tests.sandbox.grading.metrics.traces import Step, act, entries, run, shell, written

NEW, OLD = "tests/test_a.py::test_new", "tests/test_a.py::test_old"
TOLD: dict[str, Any] = {"reason": "The prompt says so.", "stated_in": "prompt"}


def follows(rule: Required | Precedes, *taken: Step) -> bool:
    """Whether a run is accepted by a rule."""
    found = trajectory.grade(task(rules=(rule,)), evidence(entries=tuple(entries(*taken))))
    return found.verdict is Verdict.PASSED


def test_a_recovery_looks_at_what_comes_after_its_own_failure() -> None:
    """Mistake: indexing all steps with a position among the failed ones."""
    install, other = "pip install freezegun", "pip install pytest"
    found = recovery.rates(
        run(shell(install), shell("ls"), shell(other), shell("ls"), shell(install, 1))
    )
    assert found["recovery"] == Ratio(numerator=0, denominator=1)


def test_a_run_without_failures_has_no_recovery_rate() -> None:
    """Mistake: scoring 1.0 where nothing failed."""
    assert recovery.rates(run(shell("ls")))["recovery"].value is None


@pytest.mark.parametrize(
    ("then", "recovered"),
    [
        (act("apply_patch", patch="--- a/y\n+++ b/y\n", writes=("y",)), False),
        (act("apply_patch", patch="--- a/x\n+++ b/x\n ", error=ErrorCode.PATCH_REJECTED), False),
        (act("apply_patch", patch="--- a/x\n+++ b/x\n!", writes=("x",)), True),
        (written("x"), True),
    ],
)
def test_a_change_of_strategy_is_on_the_same_target_by_any_tool_and_works(
    then: Step, recovered: bool
) -> None:
    """Mistake: any other argument counted, a change of tool did not, success was not asked for."""
    failed = act("apply_patch", patch="--- a/x\n+++ b/x\n", error=ErrorCode.PATCH_REJECTED)
    assert recovery.rates(run(failed, then))["recovery"].value == recovered


def test_a_required_call_must_have_the_result() -> None:
    """Mistake: a required-call check that ignores results."""
    passed = Atom(action="run_tests", result={"exit_code": 0})
    rule = Required(id="tested", template="required", a=passed, **TOLD)
    assert follows(rule, act("run_tests", result={"exit_code": 0}))
    assert not follows(rule, act("run_tests", result={"exit_code": 1}))
    assert not follows(rule, act("run_tests", error=ErrorCode.TIMEOUT))


def test_a_required_order_is_kept() -> None:
    """Mistake: a required-call check that ignores order."""
    rule = Precedes(
        id="look-first",
        template="precedes",
        a=Atom(action="read_file"),
        b=Atom(action="write_file"),
        **TOLD,
    )
    read, write = act("read_file", path="a"), written("a")
    assert follows(rule, read, write)
    assert not follows(rule, write, read)


def test_a_file_name_is_no_test_id() -> None:
    """Mistake: a log parser that returns file names, so that nothing is ever resolved."""
    report = outcomes(outcomes={"tests/test_a.py": "passed"})
    assert hidden_tests.grade(task(), evidence(tests=report)).facts["passed"] == 0
    printed = outcomes(outcomes={}, log=f"PASSED {NEW}\nPASSED {OLD}\n")
    assert hidden_tests.grade(task(), evidence(tests=printed)).verdict is Verdict.FAILED


@pytest.mark.parametrize("answer", [10050, 10000, 10001.0, "10001", [10001], True, None])
def test_an_id_is_not_accepted_by_tolerance(answer: object) -> None:
    """Mistake: a state comparison that accepts 10050 for 10001 within 1 %."""
    asked = task(final={"id": FinalField(type="integer", expect=10001)})
    assert final.grade(asked, evidence(final={"id": answer})).verdict is Verdict.FAILED
    assert final.grade(asked, evidence(final={"id": 10001})).verdict is Verdict.PASSED


def test_what_is_there_besides_is_not_ignored() -> None:
    """Mistake: a state comparison that ignores extra keys."""
    extra = change("/home/agent/humanize/extra.py", Owner.COLLATERAL)
    assert collateral.grade(task(), evidence(changes=changes(extra))).verdict is Verdict.FAILED


def test_arguments_that_were_not_supplied_do_not_match() -> None:
    """Mistake: comparing only the keys that the agent supplied: `refund()` is `refund(id=1)`."""
    rule = Required(
        id="refund",
        template="required",
        a=Atom(action="run_command", arguments={"command": "^refund 1$"}),
        **TOLD,
    )
    assert follows(rule, act("run_command", command="refund 1"))
    assert not follows(rule, act("run_command"))
    assert final.grade(task(), evidence(final={})).verdict is Verdict.FAILED
    first, second = run(act("read_file"), act("read_file", path="a"))
    assert first.signature != second.signature


@pytest.mark.parametrize("outcome", ["skipped", "xfailed", "xpassed", "error", "failed"])
def test_a_skipped_test_is_not_a_passed_one(outcome: str) -> None:
    """Mistake: counting a skipped test as passed."""
    report = TestReport.model_validate({"outcomes": {NEW: outcome, OLD: "passed"}})
    assert hidden_tests.grade(task(), evidence(tests=report)).verdict is Verdict.FAILED


def test_no_tests_are_no_marks() -> None:
    """Mistake: an empty list of tests as full marks."""
    base = task()
    none = base.tests.model_copy(update={"fail_to_pass": (), "pass_to_pass": ()})
    empty = base.model_copy(update={"tests": none})
    assert hidden_tests.grade(empty, evidence()).verdict is Verdict.FAILED
    assert hidden_tests.grade(base, evidence(tests=outcomes(outcomes={}))).verdict is Verdict.FAILED


def test_prudent_reads_fail_nobody() -> None:
    """Mistake: a whole-state hash that fails an agent for extra reads."""
    reads = [act("read_file", path=name, result={"content": name}) for name in "abc"]
    test: Step = act("run_tests", result={"exit_code": 0})
    calls = run(*reads, written("a"), test, *reads)
    assert calls[-1].state == calls[-2].state
    assert steps.rates(calls, ())["redundant_step"].value == 0
    assert steps.rates(calls, ())["step_legal"].value == 1
    rule = Required(id="tested", template="required", a=Atom(action="run_tests"), **TOLD)
    assert follows(rule, *reads, test, *reads)
