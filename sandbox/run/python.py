"""The sandbox as a library: `sandbox.open` and `sandbox.evaluate`. docs/python.md shows both."""

import asyncio
import hashlib
import inspect
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import JsonValue

from sandbox.agents.called_agent import CalledAgent
from sandbox.agents.function_agent import Function, FunctionAgent, World
from sandbox.container import engines
from sandbox.container.engines.base import Engine
from sandbox.model import places
from sandbox.model.action import FinalAnswer
from sandbox.model.briefing import Briefing
from sandbox.model.errors import ModelError, SandboxError, StoreError, UsageError
from sandbox.model.job import Job, Who
from sandbox.model.latch import Latch
from sandbox.model.run import Actor
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.rules.policy.approvers import Approver, ScriptedApprover
from sandbox.run.batch import Batch, plan
from sandbox.run.capacity import Capacity
from sandbox.run.judged_trial import perform
from sandbox.run.outcome import Outcome
from sandbox.run.stop import Stop
from sandbox.run.trial import Silent, Trial
from sandbox.tasks import choice, library
from sandbox.tasks.images import Images
from sandbox.tasks.library import LoadedTask

POLL_SECONDS = 1.0
DONE = "Whoever opened the run has finished it."


class Prepared:
    """A run whose container is being started; its time begins when it is opened."""

    def __init__(
        self, task: LoadedTask, store: Store, name: str, approver: Approver | None
    ) -> None:
        """Begin to start it; raises what prevents even that."""
        self._briefing: Briefing | None = None
        self._moved, self._over, self._opened = Latch(), Latch(), Latch()
        self._wanted = True
        self._folder: RunFolder | None = None
        self._task = task.task.id
        self._stop = Stop()
        self.agent = CalledAgent(name, self._begin)
        with ExitStack() as stack:
            engine = engines.connect()
            stack.callback(engine.close)
            pool = stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="run"))
            trial = Trial(
                task=task,
                image=Images(engine, places.cache()).ensure(task, Silent().stage),
                agent=lambda _: self._stop.agent(self.agent),
                approver=approver or ScriptedApprover(task.task.policy),
                label=name,
                ready=self._ready,
            )
            self._run = pool.submit(self._performed, trial, self._stop.engine(engine), store)
            self._run.add_done_callback(self._end)
            stack.callback(self.agent.leave, DONE)  # before the pool waits
            self.stack = stack.pop_all()

    def open(self) -> Briefing:
        """Begin the run; returns when the first action may be taken, or raises what prevents it."""
        self._opened.open()
        try:
            self._moved.wait()
            if self._briefing is None:
                self.result()
        except BaseException:
            self.stack.close()
            raise
        if self._briefing is None:
            self.stack.close()
            raise UsageError("The run ended before it began.", "Look at it: sandbox show last.")
        return self._briefing

    def result(self) -> RunFolder:
        """Wait until the run is over and graded; raises what the machinery could not carry."""
        self._over.wait()
        return self._run.result()

    def broken(self, problem: str) -> Outcome:
        """Say what came of it where the machinery could not carry it through."""
        return _error(self._task, self._folder, problem)

    def discard(self) -> None:
        """End it, and leave nothing of it, where it has not been opened."""
        self._wanted = False
        self._opened.open()
        with suppress(BaseException):  # whatever it was, nobody has asked for this run
            self.result()
        self.stack.close()

    def interrupt(self) -> None:
        """End it at once, with the action under way; it is recorded as interrupted."""
        self._stop.finish([self._run])
        self.stack.close()

    def _begin(self, briefing: Briefing) -> None:
        self._briefing = briefing
        self._moved.open()

    def _end(self, _: object) -> None:
        self._moved.open()
        self._over.open()

    def _performed(self, trial: Trial, engine: Engine, store: Store) -> RunFolder:
        try:
            return perform(trial, engine, store, Silent())
        except KeyboardInterrupt as error:  # which only `interrupt` has raised in this thread
            raise UsageError("The run was interrupted.") from error
        finally:
            if not self._wanted and self._folder is not None:
                shutil.rmtree(self._folder.path, ignore_errors=True)

    def _ready(self, folder: RunFolder) -> None:
        """Wait until the run is opened, or the program is over without that."""
        self._folder = folder
        while not self._opened.wait(POLL_SECONDS):
            if _shutting_down():
                # Never set anew from what it was before: it may have been discarded meanwhile.
                self._wanted = False
                break
        if not self._wanted:
            raise UsageError("The run was not opened.")
        started = datetime.now(UTC).isoformat(timespec="microseconds")
        folder.save_record(folder.record().model_copy(update={"started": started}))


def _shutting_down() -> bool:
    """Whether the program is over but for its threads: then no pool takes work any more."""
    try:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(bool)
    except RuntimeError:
        return True
    return False


class OpenWorld(World):
    """A run in which the code that opened it acts. `finish` ends and grades it, as `with` does."""

    def __init__(self, prepared: Prepared) -> None:
        """Begin it; raises what prevents that."""
        self.outcome: Outcome | None = None
        """What it came to, once it is finished."""
        super().__init__(prepared.agent, prepared.open())
        self._prepared = prepared

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
        with self._prepared.stack:
            self._agent.leave(DONE)
            self.outcome = Outcome.of(self._prepared.result())
        return self.outcome

    def fail(self, error: BaseException) -> None:
        """End the run as one that is not counted, because of an error of whoever acts in it.

        A `ModelError` says so of the model's provider, any other one that the agent has crashed.
        """
        if self.outcome is not None:
            return
        if isinstance(error, ModelError):
            self._agent.fail(error)
        else:
            self._agent.crash(error)
        try:
            with self._prepared.stack:
                self.outcome = Outcome.of(self._prepared.result())
        except SandboxError as problem:  # of which the record has more; `error` is raised
            self.outcome = self._prepared.broken(problem.message)

    def interrupt(self) -> None:
        """End the run at once, from any thread, with the action under way, and without a verdict.

        Returns when the container is gone. A run that has ended stays what it is.
        """
        self._prepared.interrupt()

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
        elif isinstance(error, KeyboardInterrupt | asyncio.CancelledError):
            self.interrupt()
        else:
            self.fail(error)


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
    return OpenWorld(Prepared(library.load(task), store_of(runs), name, approver))


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
    store = store_of(runs)
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
        wanted = min(jobs, len(planned))
        at_once, remark = capacity.at_once(wanted, [t.task for t in loaded.values()])
        if at_once < wanted:
            warnings.warn(remark, stacklevel=2)
        batch = Batch(prepare, engine, store, at_once, capacity.cpus)
        found = {result.job: result for result in batch.results(planned)}
    finally:
        engine.close()
    return [
        Outcome.of(store.folder(result.run))
        if result.run and result.verdict is not Verdict.ERROR
        else _error(job.task, store.folder(result.run) if result.run else None, result.problem)
        for job in planned
        for result in (found[job],)
    ]


def store_of(runs: str | Path | None) -> Store:
    """Give the store of a folder; where none is named, that of the settings."""
    return Store(Path(runs) if runs is not None else places.runs())


def _digest(agent: Function) -> str:
    """Tell a function from its next version by its text, where that is known."""
    try:
        return hashlib.sha256(inspect.getsource(agent).encode()).hexdigest()
    except (OSError, TypeError):
        return ""


def _error(task: str, folder: RunFolder | None, problem: str) -> Outcome:
    """Say what came of a run that could not be carried through, and how it ended where it began."""
    if folder is None:
        return Outcome.of_error("", task, problem)
    end = None
    with suppress(StoreError):
        end = folder.record().end
    return Outcome.of_error(folder.id, task, problem, end.how if end else None)
