"""Recording a task's test ids: what fails before the oracle's change, and what keeps passing."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.container.engines.base import Engine
from sandbox.model.errors import EvidenceError
from sandbox.model.event import Entry
from sandbox.model.grade import TestReport
from sandbox.model.store import Store
from sandbox.model.task_tests import RecordedTests
from sandbox.rules.policy.approvers import ScriptedApprover
from sandbox.run.judged_trial import perform
from sandbox.run.scripted_agents import scripted
from sandbox.run.trial import Trial
from sandbox.run.validate.candidate_grading import Regrading
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask


@dataclass(frozen=True, slots=True)
class Recording:
    """Ids of tests, and those that belong to neither list."""

    tests: RecordedTests
    left_out: tuple[str, ...]
    """What does not pass with the oracle's change."""


@dataclass(frozen=True, slots=True)
class _Telling:
    tell: Callable[[str], None]

    def stage(self, text: str) -> None:
        self.tell(text)

    def entry(self, entry: Entry) -> None:
        """The actions of an oracle are no news."""


def record(
    task: LoadedTask, image: BuiltImage, engine: Engine, store: Store, tell: Callable[[str], None]
) -> Recording:
    """Run the oracle, then all hidden tests without its change and with it.

    EvidenceError where they do not run with it, and as `perform` and `run_tests` do.
    """
    before, after = reports(task, image, engine, store, tell)
    if after.problem:
        raise EvidenceError(
            f"The tests of {task.task.id} do not run with the oracle's change: {after.problem}",
            "Correct the oracle or the hidden tests and repeat; nothing was written.",
        )
    return sorted_out(task.task.tests.fail_to_pass + task.task.tests.pass_to_pass, before, after)


def reports(
    task: LoadedTask, image: BuiltImage, engine: Engine, store: Store, tell: Callable[[str], None]
) -> tuple[TestReport, TestReport]:
    """Give what all hidden tests say without the oracle's change, and with it."""
    oracle = scripted(task.task, task.task.oracle)
    trial = Trial(task, image, oracle, ScriptedApprover(task.task.policy))
    folder = perform(trial, engine, store, _Telling(tell))
    tell("running the hidden tests without a change")
    before = Regrading(task, image, folder).base(engine).report
    return before, folder.load(folder.tests, TestReport)


def sorted_out(known: tuple[str, ...], before: TestReport, after: TestReport) -> Recording:
    """Sort tests by their outcomes: those that are listed already first, in their order."""
    there = [test for test in known if test in after.outcomes]
    tests = (*there, *sorted(after.outcomes.keys() - {*there}))
    passing = [test for test in tests if after.outcomes[test] == "passed"]
    keep = {test for test in passing if before.outcomes.get(test) == "passed"}
    return Recording(
        RecordedTests(
            fail_to_pass=tuple(test for test in passing if test not in keep),
            pass_to_pass=tuple(test for test in passing if test in keep),
        ),
        tuple(test for test in tests if after.outcomes[test] != "passed"),
    )
