"""Rows of what graded candidates show: the base, the oracle's again, the oracle's in part."""

from collections import Counter
from collections.abc import Iterable, Sequence

from sandbox.grading import Proof
from sandbox.model.grade import Verdict
from sandbox.model.task import Task
from sandbox.validate.checks import Check, Row, row_status
from sandbox.validate.hunks import Hunk, redundant
from sandbox.validate.judging import NOBODY, refusers
from sandbox.validate.regrading import Regraded

SHOWN = 3
"""Problems of one kind that a row names; the rest is counted."""


def base_row(task: Task, proof: Proof) -> Row:
    """Say whether the tests tell the base from a solution."""
    tests, outcomes = task.tests, proof.report.outcomes
    failing = sum(outcomes.get(test) != "passed" for test in tests.fail_to_pass)
    passing = sum(outcomes.get(test) == "passed" for test in tests.pass_to_pass)
    problems = _few(proof.problems)
    return Row(
        task=task.id,
        check=Check.TESTS,
        what="without a candidate",
        expected=f"{len(tests.fail_to_pass)} fail, {len(tests.pass_to_pass)} pass",
        result=f"{failing} fail, {passing} pass",
        status=row_status(problems),
        notes=tuple(problems),
    )


def gold_row(task: Task, proof: Proof, run: str) -> Row:
    """Say whether all tests pass with the oracle's candidate."""
    wanted = {*task.tests.fail_to_pass, *task.tests.pass_to_pass}
    passed = sum(proof.report.outcomes.get(test) == "passed" for test in wanted)
    problems = _few(proof.problems)
    return Row(
        task=task.id,
        check=Check.TESTS,
        what="with the oracle's candidate",
        expected=f"{len(wanted)} pass",
        result=f"{passed} pass",
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
    tests = {test for each in found for test in each.tests.outcomes}
    problems += _few(
        f"{test} has other outcomes from time to time"
        for test in sorted(tests)
        if len({each.tests.outcomes.get(test) for each in found}) > 1
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


def _few(problems: Iterable[str]) -> list[str]:
    found = list(problems)
    if len(found) <= SHOWN:
        return found
    return [*found[:SHOWN], f"and {len(found) - SHOWN} more"]


def _excerpt(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:60] if lines else "nothing but its mode or presence"
