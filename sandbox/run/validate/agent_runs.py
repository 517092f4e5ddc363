"""The cases of some tasks, run as any agent is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sandbox.agents.base import Agent
from sandbox.container.engines.base import Engine
from sandbox.model import trace as traces
from sandbox.model.grade import RunGrade, TestReport
from sandbox.model.job import Job, JobResult
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.rules.policy.approvers import ScriptedApprover
from sandbox.run.batch import Batch
from sandbox.run.capacity import Capacity
from sandbox.run.trial import Inside, Trial
from sandbox.run.validate.cases import Case
from sandbox.run.validate.checks import Check, Row, row_status
from sandbox.run.validate.expectations import broken_rules, expected, judge, refusers
from sandbox.run.validate.shared_outcomes import SharedOutcomes
from sandbox.run.validate.subject import Subject

Key = tuple[str, str]
"""A task and an agent."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a case."""

    result: JobResult
    grade: RunGrade | None
    """None where the machinery failed."""

    @property
    def told(self) -> str:
        """Verdict, refusing graders and broken rules: what must not depend on other runs."""
        if self.grade is None:
            return f"error: {self.result.problem}"
        rules = sorted(broken_rules(self.grade))
        return " ".join((self.grade.verdict, *refusers(self.grade), *rules))


class Runner:
    """Runs cases by their agents."""

    def __init__(self, subjects: Mapping[str, Subject], engine: Engine, store: Store) -> None:
        self._subjects = subjects
        self._engine = engine
        self._store = store

    def run(
        self,
        keys: Sequence[Key],
        at_once: int,
        tell: Callable[[str], None],
        *,
        shared: SharedOutcomes | None = None,
        trial: int = 1,
    ) -> dict[Key, Ran]:
        """Run some cases in this order; what errs stops no other. `tell` gets what has ended.

        With `shared`, candidates that are the same are tested once.
        """
        jobs = [
            Job(
                task=task,
                task_digest=self._subjects[task].loaded.digest,
                agent=agent,
                trial=trial,
            )
            for task, agent in keys
        ]
        tasks = [each.loaded.task for each in self._subjects.values()]
        capacity = Capacity.of(self._engine)
        at_once, remark = capacity.at_once(at_once, tasks)
        batch = Batch(
            lambda job: self._trial(job, shared),
            self._engine,
            self._store,
            at_once,
            capacity.cpus,
        )
        found: dict[Key, Ran] = {}
        tell(f"{len(jobs)} runs, {remark or f'{at_once} at once'}")
        for result in batch.results(jobs):
            key = result.job.task, result.job.agent
            found[key] = self._ran(result)
            tell(f"{key[0]}: {key[1]} has ended, {len(jobs) - len(found)} to go")
        return found

    def row(self, key: Key, ran: Ran) -> Row:
        """Say whether a case has ended as it has to."""
        subject, case = self._subjects[key[0]], self._subjects[key[0]].cases[key[1]]
        if ran.grade is None or ran.result.run is None:
            return _error(subject.id, case, ran.result)
        folder = self._store.folder(ran.result.run)
        entries = traces.read(folder.trace).entries
        problems = judge(subject.loaded.task, case, ran.grade, entries)
        by = "" if case.passes else ", ".join(refusers(ran.grade))
        return Row(
            task=subject.id,
            check=case.check,
            what=case.agent,
            expected=expected(case),
            result=f"{ran.grade.verdict}, by {by}" if by else str(ran.grade.verdict),
            run=ran.result.run,
            tests_of=folder.load(folder.tests, TestReport).shared_with or None,
            status=row_status(problems),
            notes=tuple(problems),
        )

    def _trial(self, job: Job, shared: SharedOutcomes | None) -> Trial:
        subject = self._subjects[job.task]

        def agent(folder: RunFolder) -> Agent:
            return subject.agent(job.agent, folder)

        loaded = subject.tried(job.agent)
        approver = ScriptedApprover(loaded.task.policy)
        inside = Inside() if subject.cases[job.agent].inside else None
        trial = Trial(loaded, subject.image, agent, approver, inside=inside)
        if shared is None:
            return trial
        return replace(trial, tester=shared.tester(subject.image.id), early=False)

    def _ran(self, result: JobResult) -> Ran:
        if result.run is None or result.problem or result.verdict is Verdict.ERROR:
            return Ran(result, None)
        folder = self._store.folder(result.run)
        return Ran(result, folder.load(folder.grade, RunGrade))


def order_row(task: str, first: Mapping[str, Ran], again: Mapping[str, Ran], how: str) -> Row:
    """Say whether the same agents have ended alike in another order."""
    problems = [
        f"{agent}: {first[agent].told}, then {ran.told}"
        for agent, ran in again.items()
        if first[agent].told != ran.told
    ]
    return Row(
        task=task,
        check=Check.ORDER,
        what=f"{len(again)} agents {how}",
        expected="each ends as it did before",
        result=f"{len(again) - len(problems)} of {len(again)} alike",
        status=row_status(problems),
        notes=tuple(problems),
    )


def _error(task: str, case: Case, result: JobResult) -> Row:
    return Row(
        task=task,
        check=case.check,
        what=case.agent,
        expected=expected(case),
        result="error",
        run=result.run,
        status="error",
        notes=(result.problem,),
    )


def no_oracle(task: str, check: Check, oracle: Ran) -> Row:
    """Say that a check needs an oracle that passes."""
    return Row(
        task=task,
        check=check,
        what="oracle",
        expected="passes, so that its candidate can be graded again",
        result="error" if oracle.grade is None else str(oracle.grade.verdict),
        run=oracle.result.run,
        status="error" if oracle.grade is None else "bad",
        notes=(oracle.result.problem,) if oracle.result.problem else (),
    )
