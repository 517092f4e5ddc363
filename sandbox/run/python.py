"""The sandbox as a library: `sandbox.open` and `sandbox.evaluate`. docs/python.md shows both."""

import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import JsonValue

from sandbox.agents.called_agent import CalledAgent
from sandbox.agents.function_agent import Function, FunctionAgent, World
from sandbox.container import engines
from sandbox.model import places
from sandbox.model.action import FinalAnswer
from sandbox.model.briefing import Briefing
from sandbox.model.errors import UsageError
from sandbox.model.grade import Verdict
from sandbox.model.job import Job, Who
from sandbox.model.run import Actor
from sandbox.model.store import Store
from sandbox.rules.policy.approvers import Approver, ScriptedApprover
from sandbox.run.batch import Batch, plan
from sandbox.run.capacity import Capacity
from sandbox.run.outcome import Outcome
from sandbox.run.trial import Silent, Trial, perform
from sandbox.tasks import choice, library
from sandbox.tasks.images import Images
from sandbox.tasks.library import LoadedTask

DONE = "Whoever opened the run has finished it."


class OpenWorld(World):
    """A run in which the code that opened it acts. `finish` ends and grades it, as `with` does."""

    def __init__(
        self, task: LoadedTask, store: Store, name: str, approver: Approver | None
    ) -> None:
        """Start it, and return when the first action may be taken; raises what prevents that."""
        self.outcome: Outcome | None = None
        """What it came to, once it is finished."""
        begun: Future[Briefing] = Future()
        agent = CalledAgent(name, begun.set_result)
        with ExitStack() as stack:
            engine = engines.connect()
            stack.callback(engine.close)
            pool = stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="run"))
            trial = Trial(
                task=task,
                image=Images(engine, places.cache()).ensure(task, Silent().stage),
                agent=lambda _: agent,
                approver=approver or ScriptedApprover(task.task.policy),
                label=name,
            )
            self._run = pool.submit(perform, trial, engine, store, Silent())
            stack.callback(agent.leave, DONE)  # before the pool waits
            pending: list[Future[Any]] = [begun, self._run]
            wait(pending, return_when=FIRST_COMPLETED)
            if not begun.done():
                self._run.result()
            super().__init__(agent, begun.result())
            self._stack = stack.pop_all()

    def finish(self, fields: Mapping[str, JsonValue] | None = None, note: str = "") -> Outcome:
        """Give the final answer, if there is one to give, and wait until the run is graded.

        UsageError where the answer does not have the fields that the task asks for: the run goes
        on. What the machinery could not carry through is raised.
        """
        if self.outcome is not None:
            return self.outcome
        if fields is not None and not self.over:
            reply = self.step(FinalAnswer.name, fields={**fields}, note=note)
            if reply.status == "error" and not self.over:
                raise UsageError(f"The answer was refused: {reply.message}")
        with self._stack:
            self._agent.leave(DONE)
            self.outcome = Outcome.of(self._run.result())
        return self.outcome

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.finish()
        else:  # which is what is to be told, whatever becomes of the run
            self._stack.close()


def open_world(
    task: str,
    *,
    name: str = "python",
    approver: Approver | None = None,
    runs: str | Path | None = None,
) -> OpenWorld:
    """Open a task for actions of this process; any number may be open at once.

    `name` is what reports call whoever acts, `approver` who answers (the task's script, where it is
    None), `runs` where runs are kept (SANDBOX_RUNS, else ./runs).
    """
    return OpenWorld(library.load(task), _store(runs), name, approver)


def evaluate(
    tasks: str | Sequence[str],
    agent: Function,
    *,
    trials: int = 1,
    jobs: int = 1,
    name: str = "",
    approver: Callable[[], Approver] | None = None,
    runs: str | Path | None = None,
) -> list[Outcome]:
    """Let a function act in each task, so many times, `jobs` at once, and give what came of it.

    Tasks are what `sandbox run` takes: names, variants, patterns, `all`, files of suites. Results
    come in the order of the tasks' first trials, then their second ones. A run that the machinery
    could not carry through has the verdict `error`; one whose function raised has crashed.
    """
    loaded = {
        task.task.id: task for task in choice.chosen([tasks] if isinstance(tasks, str) else tasks)
    }
    label = name or getattr(agent, "__qualname__", type(agent).__name__)
    version = _digest(agent)
    planned = plan(
        [(task.task.id, task.digest) for task in loaded.values()],
        [Who(agent=label, version=version[:8])],
        trials,
    )
    store = _store(runs)
    engine = engines.connect()
    try:
        images = Images(engine, places.cache())
        built = {name: images.ensure(task, Silent().stage) for name, task in loaded.items()}

        def prepare(job: Job) -> Trial:
            task = loaded[job.task]
            return Trial(
                task=task,
                image=built[job.task],
                agent=lambda folder: FunctionAgent(agent, label, folder.agent_log),
                approver=approver() if approver else ScriptedApprover(task.task.policy),
                label=label,
                actor=Actor(command=label, digest=version),
            )

        capacity = Capacity.of(engine)
        at_once, _ = capacity.at_once(min(jobs, len(planned)), [t.task for t in loaded.values()])
        batch = Batch(prepare, engine, store, at_once, capacity.cpus)
        found = {result.job: result for result in batch.results(planned)}
    finally:
        engine.close()
    return [
        Outcome.of(store.folder(result.run))
        if result.run and result.verdict is not Verdict.ERROR
        else Outcome(
            run=result.run or "",
            task=job.task,
            verdict=Verdict.ERROR,
            reward=0,
            rewards={},
            problem=result.problem,
        )
        for job in planned
        for result in (found[job],)
    ]


def _store(runs: str | Path | None) -> Store:
    return Store(Path(runs) if runs is not None else places.runs())


def _digest(agent: Function) -> str:
    """Tell a function from its next version by its text, where that is known."""
    try:
        return hashlib.sha256(inspect.getsource(agent).encode()).hexdigest()
    except (OSError, TypeError):
        return ""
