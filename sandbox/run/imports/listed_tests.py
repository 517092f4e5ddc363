"""A foreign task, tried: the tests that it lists without the fix and with it, oracle and `null`."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sandbox.agents.scripted import null_agent
from sandbox.container import candidate as candidates
from sandbox.container.engines.base import Engine
from sandbox.model.grade import RunGrade, TestOutcome, TestReport
from sandbox.model.listing import some
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.model.task_tests import RecordedTests
from sandbox.model.verdict import Verdict
from sandbox.rules.policy.approvers import ScriptedApprover
from sandbox.run.judged_trial import perform
from sandbox.run.recorded_tests import reports
from sandbox.run.scripted_agents import scripted
from sandbox.run.trial import Silent, Trial
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask

SHOWN = 3
_ERROR = re.compile(r"^E  +.+$|^\w+(?:Error|Exception)\b.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Listed:
    """The tests by which a foreign format tells whether its task is solved."""

    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sorted:
    """The same by our ids, as far as they hold here."""

    tests: RecordedTests
    problems: tuple[str, ...]
    """Why it cannot be told here whether the task is solved; empty where it can."""
    notes: tuple[str, ...]
    """What is not kept."""


def tried(
    task: LoadedTask,
    image: BuiltImage,
    listed: Listed,
    place: tuple[Engine, Store],
    tell: Callable[[str], None],
) -> Sorted:
    """Run the task's tests without its fix and with it, and find those that are listed.

    Raises as `perform` and `run_tests` do.
    """
    return sorted_out(listed, *reports(task, image, *place, tell))


def sorted_out(listed: Listed, before: TestReport, after: TestReport) -> Sorted:
    """Say which of the listed tests there are here, and which of them tell anything.

    One that has to be fixed must fail without the fix and pass with it. One that has to keep
    passing is left out where it does not pass here in both.
    """
    if after.problem:
        problem = f"its tests do not run: {after.problem}{_error(after)}"
        return Sorted(RecordedTests(), (problem,), ())
    ids = _ids(after.outcomes)
    missing = [test for test in listed.fail_to_pass if not ids.get(test)]
    wanted = {test: ids[test] for test in listed.fail_to_pass if ids.get(test)}
    fail = _once(each for tests in wanted.values() for each in _turning(tests, before, after))
    red = _once(each for tests in wanted.values() for each in tests if not _passed(each, after))
    # The family takes an expected failure for a pass; a candidate can cause one at will.
    expected = [test for test in red if after.outcomes[test] == "xfailed"]
    turning = {*fail}
    green = [test for test, tests in wanted.items() if not turning.intersection(tests)]
    green = [test for test in green if all(_passed(each, after) for each in wanted[test])]
    told = (
        ("tests that have to be fixed are not there", missing),
        ("tests do not pass with the fix", [test for test in red if test not in expected]),
        ("tests pass without the fix", green),
        (
            "tests end as expected failures with the fix, and no other passes",
            [] if fail else expected,
        ),
    )
    problems = tuple(f"{len(tests)} {what}: {some(tests, SHOWN)}" for what, tests in told if tests)
    # What an id that was cut stands for besides has to go on passing.
    keep = _once(
        each
        for tests in (*wanted.values(), *(ids.get(test, []) for test in listed.pass_to_pass))
        for each in tests
        if each not in turning.union(expected)
    )
    unseen = [test for test in keep if before.problem and test not in before.outcomes]
    kept = [
        test for test in keep if _passed(test, after) and (_passed(test, before) or test in unseen)
    ]
    lost = [test for test in listed.pass_to_pass if not ids.get(test)]
    lost += [test for test in keep if test not in kept]
    tests = RecordedTests(fail_to_pass=tuple(fail), pass_to_pass=tuple(kept))
    notes = []
    if expected:
        notes.append(f"Tests that end as expected failures are left out: {some(expected, SHOWN)}")
    if lost:
        count = f"{len(lost)} of {len(listed.pass_to_pass)} tests that have to keep passing"
        notes.append(f"{count} do not pass here and are left out: {some(lost, SHOWN)}")
    if unseen:
        notes.append(
            f"Without the fix its tests do not come to their end ({before.problem}), so nothing "
            f"shows that {len(unseen)} tests passed before."
        )
    return Sorted(tests, problems, tuple(notes))


def _turning(tests: list[str], before: TestReport, after: TestReport) -> list[str]:
    """Give those that the fix turns green."""
    return [test for test in tests if _passed(test, after) and not _passed(test, before)]


def _once(tests: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(tests))


def _passed(test: str, report: TestReport) -> bool:
    return report.outcomes.get(test) == "passed"


def _ids(outcomes: Mapping[str, TestOutcome]) -> dict[str, list[str]]:
    """Find our ids by those that a data set may have for them.

    The data sets took ids from what a runner printed: whole, up to the first space, or the name of
    the function alone. A whole one stands for itself.
    """
    ids: dict[str, list[str]] = {}
    for test in outcomes:
        function = test.rpartition("::")[2]
        for name in {test.split(maxsplit=1)[0], function, function.partition("[")[0]}:
            ids.setdefault(name, []).append(test)
    return ids | {test: [test] for test in outcomes}


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of the oracle, which has to pass, and of `null`, which must not."""

    problems: tuple[str, ...]
    unnamed: tuple[str, ...]
    """Configuration that the oracle has written, and that stayed behind; from the worktree on."""


def judged(task: LoadedTask, image: BuiltImage, engine: Engine, store: Store) -> Judged:
    """Run both; raises as `perform` does."""
    problems: list[str] = []
    unnamed: tuple[str, ...] = ()
    oracle = scripted(task.task, task.task.oracle)
    for name, agent, passes in (
        ("oracle", oracle, True),
        ("null", lambda _: null_agent(), False),
    ):
        trial = Trial(task, image, agent, ScriptedApprover(task.task.policy))
        folder = perform(trial, engine, store, Silent())
        if passes:
            refused = candidates.unpack(folder.candidate).refused
            below = f"{task.worktree}/"
            left = (path for path, why in refused.items() if why == candidates.UNNAMED)
            unnamed = tuple(path.removeprefix(below) for path in left if path.startswith(below))
        if (folder.record().verdict is Verdict.PASSED) is not passes:
            problems.append(f"{name}: {_reason(folder)}")
    return Judged(tuple(problems), unnamed)


def _reason(folder: RunFolder) -> str:
    grade = folder.load(folder.grade, RunGrade)
    reasons = [
        reason.message for part in grade.grades for reason in part.reasons if not reason.soft
    ]
    told = _error(folder.load(folder.tests, TestReport)) if folder.tests.is_file() else ""
    return f"{grade.verdict}: {reasons[0] if reasons else grade.problem or 'no reason'}{told}"


def _error(report: TestReport) -> str:
    """Give the last error that a run of pytest has printed, if it has."""
    errors = _ERROR.findall(report.log)
    return f"; {errors[-1].removeprefix('E ').strip()}" if errors else ""
