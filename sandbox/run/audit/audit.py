"""The audit of a suite: its graphs and oracles, runs of blind agents, and what is stored."""

from collections.abc import Callable, Mapping, Sequence

from sandbox.agents.base import Agent
from sandbox.agents.scripted import ScriptedAgent
from sandbox.container.engines.base import Engine
from sandbox.grading.stored_grade import stored_grade
from sandbox.model import trace as traces
from sandbox.model.audit import Sign
from sandbox.model.job import Job
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.rules.policy.approvers import ScriptedApprover
from sandbox.run.audit import choice_signs, path_signs, script_signs, target_signs
from sandbox.run.audit.path_signs import Judged
from sandbox.run.batch import Batch
from sandbox.run.capacity import Capacity
from sandbox.run.trial import Trial
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask

BLIND, ORACLE = "blind", "oracle"
OWN = (ORACLE, "null", BLIND)
"""Agents that say something about a task, not about themselves."""


class Audit:
    """Looks at tasks, and at runs of them."""

    def __init__(
        self, tasks: Sequence[LoadedTask], runs: Sequence[RunFolder], agents: Sequence[str] = ()
    ) -> None:
        """`agents` are those that were asked for by name: they count whoever they are."""
        self._tasks = tasks
        self._runs = runs
        self._agents = agents

    def signs(self, blind: Sign) -> tuple[Sign, ...]:
        """Give the signs in their order; `blind` is the one that `run_blind` gives."""
        facets = {task.task.id: task.task.facet.value for task in self._tasks}
        every = [found for folder in self._runs if (found := _judged(folder, facets)) is not None]
        judged = [each for each in every if each.agent not in OWN or each.agent in self._agents]
        oracles = [each for each in every if each.agent == ORACLE]
        products = [
            (task.task.id, product)
            for task in self._tasks
            if (product := choice_signs.product(task.task)) is not None
        ]
        return (
            path_signs.lucky(judged),
            path_signs.gain(judged),
            path_signs.first_faults(judged),
            blind,
            script_signs.sequences([task.task for task in self._tasks]),
            choice_signs.forbidden(products),
            choice_signs.decisions(products),
            target_signs.target(judged, oracles),
            target_signs.costless(judged),
        )

    def run_blind(
        self,
        images: Sequence[BuiltImage],
        engine: Engine,
        store: Store,
        at_once: int,
        tell: Callable[[str], None],
    ) -> Sign:
        """Sign 4: run each oracle as one that sees no reply; a pass needs no looking."""
        known = {
            task.task.id: (task, image) for task, image in zip(self._tasks, images, strict=True)
        }

        def trial(job: Job) -> Trial:
            task, image = known[job.task]
            return Trial(task, image, _blind(task), ScriptedApprover(task.task.policy))

        jobs = [
            Job(task=name, task_digest=task.digest, agent=BLIND, trial=1)
            for name, (task, _) in known.items()
        ]
        tasks = [task.task for task, _ in known.values()]
        capacity = Capacity.of(engine)
        at_once, remark = capacity.at_once(at_once, tasks)
        tell(f"{len(jobs)} blind runs, {remark or f'{at_once} at once'}")
        rows, passed, errors = [], 0, 0
        for result in Batch(trial, engine, store, at_once, capacity.cpus).results(jobs):
            tell(f"{result.job.task}: the blind agent has ended")
            passed += result.verdict is Verdict.PASSED
            errors += result.verdict in (Verdict.ERROR, None)
            word = result.problem or str(result.verdict)
            rows.append(f"{result.job.task}: {word} ({result.run or 'no run'})")
        return Sign(
            name="blind",
            question="Can a task be passed without looking at what comes back?",
            status="warning" if passed else "unknown" if errors else "clear",
            value=f"{passed}/{len(jobs)} tasks passed by an oracle that sees nothing",
            details=tuple(sorted(rows)),
        )


def not_run() -> Sign:
    """Sign 4 where no agent was run."""
    return Sign(
        name="blind",
        question="Can a task be passed without looking at what comes back?",
        status="unknown",
        value="no blind agent was run",
    )


def _blind(task: LoadedTask) -> Callable[[RunFolder], Agent]:
    return lambda _: ScriptedAgent(script_signs.blind(task.task), BLIND)


def _judged(folder: RunFolder, facets: Mapping[str, str]) -> Judged | None:
    record = folder.record()
    grade = stored_grade(folder, record)
    crashed = record.end is not None and record.end.how == "crashed"
    if grade is None or not grade.grades or crashed:
        return None
    return Judged(
        agent=record.agent,
        mode=record.mode,
        grade=grade,
        entries=traces.read(folder.trace).entries,
        facet=facets.get(record.task, ""),
        operators=record.operators,
    )
