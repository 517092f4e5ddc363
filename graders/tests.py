"""The hidden tests and cases: each expected one passed, in the fresh session.

Tier 1: cases call what the candidate offers from outside, and nothing of it can reach what is
compared. Tier 2: tests run in the candidate's own process. That is hardened by exact ids, canaries,
a second channel and the grader's own runner, and it is not forgery-proof.
"""

from collections.abc import Iterator

from pydantic import JsonValue

from graders.verdict import judged
from sandbox.model.grade import Evidence, Grade, Reason, TestReport
from sandbox.model.task import Task
from sandbox.model.task_tests import Cases

NAME = "tests"


def grade(task: Task, evidence: Evidence) -> Grade:
    """Judge the outcomes; a skip, an expected failure or a missing test is no pass."""
    wanted = dict.fromkeys(task.tests.fail_to_pass + task.tests.pass_to_pass)
    cases = task.tests.cases
    report = evidence.tests
    outcomes = {} if report is None else report.outcomes
    facts: dict[str, JsonValue] = {
        "tier": tier(task),
        "expected": len(wanted),
        "passed": sum(outcomes.get(test) == "passed" for test in wanted),
    }
    reasons = [*_reasons(task, report, list(wanted))]
    if cases is not None:
        found = report.cases.outcomes if report and report.cases else {}
        facts["cases"] = len(cases.expected)
        facts["cases_passed"] = sum(each.outcome == "passed" for each in found.values())
        facts["calls"] = sum(each.calls for each in found.values())
        reasons += _case_reasons(cases, report)
    reasons += _own_reasons(task, report)
    return judged(NAME, reasons, facts)


def tier(task: Task) -> str:
    """Say what a task's verdict rests on: `1` cases alone, `2` tests alone, `1+2` both.

    `script` is what an author's own script says, which nobody can vouch for.
    """
    if task.tests.script is not None:
        return "script"
    cases = task.tests.cases is not None and bool(task.tests.cases.expected)
    tests = bool(task.tests.fail_to_pass or task.tests.pass_to_pass)
    return "+".join(name for name, there in (("1", cases), ("2", tests)) if there)


def _reasons(task: Task, report: TestReport | None, wanted: list[str]) -> Iterator[Reason]:
    if not tier(task):
        yield Reason(message="The task expects no test to pass, so nothing shows that it is solved")
    if report is None:
        yield Reason(message="The hidden tests could not be run")
        return
    if report.problem:
        yield Reason(message=f"The hidden tests cannot be relied on: {report.problem}")
    for test in wanted:
        outcome = report.outcomes.get(test)
        if outcome == "passed":
            continue
        kind = "has to be fixed" if test in task.tests.fail_to_pass else "passed before"
        seen = "did not run" if outcome is None else f"ended as {outcome}"
        yield Reason(message=f"{test}, which {kind}, {seen}", test=test)


def _case_reasons(cases: Cases, report: TestReport | None) -> Iterator[Reason]:
    if report is None:
        return
    if report.cases is None:
        yield Reason(message="The cases could not be run")
        return
    if report.cases.problem:
        yield Reason(message=f"The cases cannot be relied on: {report.cases.problem}")
    for case in cases.expected:
        outcome = report.cases.outcomes.get(case)
        if outcome is not None and outcome.outcome == "passed":
            continue
        kind = "has to be fixed" if case in cases.fail_to_pass else "passed before"
        seen = "did not run" if outcome is None else f"failed {outcome.problem}"
        yield Reason(message=f"The case {case}, which {kind}, {seen}", test=case)


def _own_reasons(task: Task, report: TestReport | None) -> Iterator[Reason]:
    """Object to a test of the agent's own that shows nothing: evidence of 0.1 has none of them."""
    if report is None or report.own is None:
        return
    for path in task.tests.own:
        own = report.own.get(path)
        if own is None:
            yield Reason(message=f"{path}, a test that was asked for, is not there", path=path)
            continue
        good, base = own.with_fix, own.without_fix
        if good.problem or good.failed or not good.passed:
            seen = good.problem or f"{good.passed} tests passed and {good.failed} failed"
            message = f"{path}, a test that was asked for, does not pass with the fix: {seen}"
            yield Reason(message=message, path=path)
        elif not base.problem and not base.failed:
            message = f"{path}, a test that was asked for, passes without the fix as well"
            yield Reason(message=message, path=path)
