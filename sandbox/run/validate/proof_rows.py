"""Rows of what graded candidates show: the base, the oracle's again, the oracle's in part."""

from collections import Counter
from collections.abc import Iterable, Sequence

from sandbox.grading.proof import Proof
from sandbox.model.grade import TestReport
from sandbox.model.task import Task
from sandbox.model.verdict import Verdict
from sandbox.run.validate.candidate_grading import Regraded
from sandbox.run.validate.checks import Check, Row, row_status
from sandbox.run.validate.expectations import NOBODY, refusers
from sandbox.run.validate.hunks import Hunk, redundant, undeclared

SHOWN = 3
"""Problems of one kind that a row names; the rest is counted."""

CASE = "case "
"""Before the id of a case, which is no test's."""


def base_row(task: Task, proof: Proof) -> Row:
    """Say whether the tests tell the base from a solution."""
    passed = _passed(proof.report)
    before, after = _wanted(task)
    failing, passing = len(before - passed), len(after & passed)
    problems = _few(proof.problems)
    return Row(
        task=task.id,
        check=Check.TESTS,
        what="without a candidate",
        expected=f"{len(before)} fail, {len(after)} pass",
        result=f"{failing} fail, {passing} pass",
        status=row_status(problems),
        notes=tuple(problems),
    )


def gold_row(task: Task, proof: Proof, run: str) -> Row:
    """Say whether all tests pass with the oracle's candidate."""
    before, after = _wanted(task)
    problems = _few(proof.problems)
    return Row(
        task=task.id,
        check=Check.TESTS,
        what="with the oracle's candidate",
        expected=f"{len(before | after)} pass",
        result=f"{len((before | after) & _passed(proof.report))} pass",
        run=run,
        status=row_status(problems),
        notes=tuple(problems),
    )


def gradings_row(task: Task, found: Sequence[Regraded], run: str) -> Row:
    """Say whether the oracle's candidate is graded alike each time."""
    verdicts = Counter(each.grade.verdict.value for each in found)
    refused = [each for each in found if each.grade.verdict is not Verdict.PASSED]
    names = sorted({name for each in refused for name in refusers(each.grade)})
    problems = [f"refused {len(refused)} times, by {', '.join(names) or NOBODY}"] if refused else []
    told = [_outcomes(each.tests) for each in found]
    problems += _few(
        f"{test} has other outcomes from time to time"
        for test in sorted({test for outcomes in told for test in outcomes})
        if len({outcomes.get(test) for outcomes in told}) > 1
    )
    return Row(
        task=task.id,
        check=Check.GRADINGS,
        what=f"oracle, graded {len(found)} times",
        expected="passes each time, with the same outcomes",
        result=", ".join(f"{verdict} {count}" for verdict, count in verdicts.items()),
        run=run,
        status=row_status(problems),
        notes=tuple(problems),
    )


def declared_row(task: Task, listed: list[Hunk]) -> Row:
    """Say whether each hunk that the task calls redundant is there."""
    problems = tuple(undeclared(task, listed))
    return Row(
        task=task.id,
        check=Check.HUNKS,
        what="the oracle's change",
        expected="holds what the task calls redundant",
        result=f"{len(listed)} hunks, {len(task.redundant)} called redundant",
        status=row_status(problems),
        notes=problems,
    )


def hunk_row(task: Task, hunk: Hunk, found: Regraded, run: str) -> Row:
    """Say whether the oracle without a part of its change fails."""
    why = redundant(task, hunk)
    verdict = found.grade.verdict
    problems: list[str] = []
    if why and verdict is not Verdict.PASSED:
        problems.append(f"the task calls it redundant, and without it the verdict is {verdict}")
    elif not why and verdict is not Verdict.FAILED:
        problems.append(f"the verdict is {verdict}, so nothing needs it: {_excerpt(hunk.text)}")
    by = ", ".join(refusers(found.grade))
    return Row(
        task=task.id,
        check=Check.HUNKS,
        what=f"oracle without {hunk.name}",
        expected=f"passes, for it is redundant: {why}" if why else "fails",
        result=f"{verdict}, by {by}" if by else str(verdict),
        run=run,
        status=row_status(problems),
        notes=tuple(problems),
    )


def _wanted(task: Task) -> tuple[set[str], set[str]]:
    """Give the tests and cases that fail before the fix, and those that pass then too."""
    tests, cases = task.tests, task.tests.cases
    before, after = set(tests.fail_to_pass), set(tests.pass_to_pass)
    if cases is not None:
        before |= {f"{CASE}{case}" for case in cases.fail_to_pass}
        after |= {f"{CASE}{case}" for case in cases.pass_to_pass}
    return before, after


def _outcomes(report: TestReport) -> dict[str, str]:
    found: dict[str, str] = dict(report.outcomes)
    if report.cases is not None:
        found |= {f"{CASE}{case}": each.outcome for case, each in report.cases.outcomes.items()}
    return found


def _passed(report: TestReport) -> set[str]:
    return {test for test, outcome in _outcomes(report).items() if outcome == "passed"}


def _few(problems: Iterable[str]) -> list[str]:
    found = list(problems)
    if len(found) <= SHOWN:
        return found
    return [*found[:SHOWN], f"and {len(found) - SHOWN} more"]


def _excerpt(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:60] if lines else "nothing but its mode or presence"
