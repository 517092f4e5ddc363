"""Whether a task's tests tell a solved repository from one that is not.

What the task file records is a claim that can be checked: without a candidate each test of
`fail_to_pass` does not pass and each of `pass_to_pass` does; with the oracle's all of them pass.
"""

from collections.abc import Iterator

from sandbox.container.candidate import Candidate
from sandbox.container.engines.base import Session
from sandbox.grading.grading_session import GradingSession
from sandbox.grading.hidden import run_tests
from sandbox.model.base import Record
from sandbox.model.grade import TestReport
from sandbox.model.task import Task
from sandbox.tasks.library import LoadedTask

NOTHING = Candidate({}, (), {})


class Proof(Record):
    """What the tests said of a repository that it is known of whether it is solved."""

    report: TestReport
    problems: tuple[str, ...]
    """What is not as the task records it, a sentence each; empty where all of it is."""

    @property
    def holds(self) -> bool:
        """Whether all is as the task records it."""
        return not self.problems


def base_report(task: LoadedTask, session: Session) -> Proof:
    """Run the hidden tests without a candidate in a session that nobody used.

    Raises as `run_tests` does.
    """
    report = run_tests(GradingSession.prepare(task, session), NOTHING)
    return Proof(report=report, problems=tuple(base_problems(task.task, report)))


def gold_report(task: LoadedTask, session: Session, candidate: Candidate) -> Proof:
    """Run the hidden tests with the candidate of a run that solved the task, e.g. the oracle's.

    Raises as `run_tests` does.
    """
    report = run_tests(GradingSession.prepare(task, session), candidate)
    return Proof(report=report, problems=tuple(gold_problems(task.task, report)))


def base_problems(task: Task, report: TestReport) -> Iterator[str]:
    """Say what is not as recorded where there is no candidate.

    Tests that fail before the fix may do so by keeping their file from being loaded at all.
    """
    if report.tampering:
        yield f"the base looks like tampering: {report.problem}"
    for test in task.tests.fail_to_pass:
        if report.outcomes.get(test) == "passed":
            yield f"{test} is to fail before the fix, and passes"
    yield from _not_passed(report, task.tests.pass_to_pass, "is to pass before the fix")
    cases = task.tests.cases
    found = report.cases.outcomes if report.cases else {}
    for case in cases.fail_to_pass if cases else ():
        if case in found and found[case].outcome == "passed":
            yield f"the case {case} is to fail before the fix, and passes"
    yield from _cases_not_passed(report, cases.pass_to_pass if cases else (), "before the fix")


def gold_problems(task: Task, report: TestReport) -> Iterator[str]:
    """Say what is not as recorded where the task is solved."""
    if report.problem:
        yield f"the tests of a solved repository do not run: {report.problem}"
    wanted = task.tests.fail_to_pass + task.tests.pass_to_pass
    yield from _not_passed(report, wanted, "is to pass when the task is solved")
    cases = task.tests.cases
    yield from _cases_not_passed(report, cases.expected if cases else (), "when the task is solved")


def _not_passed(report: TestReport, tests: tuple[str, ...], claim: str) -> Iterator[str]:
    for test in tests:
        outcome = report.outcomes.get(test)
        if outcome != "passed":
            seen = "did not run" if outcome is None else f"ended as {outcome}"
            yield f"{test} {claim}, and {seen}"


def _cases_not_passed(report: TestReport, cases: tuple[str, ...], when: str) -> Iterator[str]:
    found = report.cases.outcomes if report.cases else {}
    for case in cases:
        outcome = found.get(case)
        if outcome is None or outcome.outcome != "passed":
            seen = "did not run" if outcome is None else f"failed {outcome.problem}"
            yield f"the case {case} is to pass {when}, and {seen}"
