"""The hidden tests: each expected id passed, in the fresh session.

Tier 2: the tests run in the candidate's own process. That is hardened by exact ids, a canary and
the grader's own runner, and it is not forgery-proof.
"""

from collections.abc import Iterator

from pydantic import JsonValue

from graders.verdict import judged
from sandbox.model.grade import Evidence, Grade, Reason, TestReport
from sandbox.model.task import Task

NAME = "tests"
TIER = 2


def grade(task: Task, evidence: Evidence) -> Grade:
    """Judge the outcomes; a skip, an expected failure or a missing test is no pass."""
    wanted = dict.fromkeys(task.tests.fail_to_pass + task.tests.pass_to_pass)
    report = evidence.tests
    outcomes = {} if report is None else report.outcomes
    passed = sum(outcomes.get(test) == "passed" for test in wanted)
    facts: dict[str, JsonValue] = {
        "tier": TIER,
        "expected": len(wanted),
        "passed": passed,
    }
    return judged(NAME, _reasons(task, report, list(wanted)), facts)


def _reasons(task: Task, report: TestReport | None, wanted: list[str]) -> Iterator[Reason]:
    if not wanted:
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
