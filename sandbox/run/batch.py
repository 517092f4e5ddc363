"""Many runs: jobs in threads that share an engine, each whatever becomes of the others.

An interrupt ends the runs that are going on, which record it and put their containers away, and
begins no further one; what has finished stays as it is.
"""

import contextlib
import gc
import queue
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import islice

from sandbox.agents.base import Agent
from sandbox.container.engines.base import Engine
from sandbox.model.errors import SandboxError, UsageError
from sandbox.model.job import Job, JobResult, Who
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.run.admission import FREE, Queue
from sandbox.run.judged_trial import perform
from sandbox.run.stop import SLICE_SECONDS, Stop
from sandbox.run.trial import Listener, Silent, Trial

TRIALS_MOST = 10_000

LASTING = UsageError.exit_code
"""Of errors that are mistakes of whoever gave the command."""

Prepare = Callable[[Job], Trial]
"""Makes a job's trial: its own approver and, when it begins, its own agent."""


def plan(tasks: Sequence[tuple[str, str]], agents: Sequence[Who], trials: int) -> list[Job]:
    """Give the jobs for tasks (id, digest) and agents, all first trials before the second ones."""
    if not 1 <= trials <= TRIALS_MOST:
        raise UsageError(
            f"{trials} trials cannot be run.", f"Give --trials a number from 1 to {TRIALS_MOST}."
        )
    first = [
        Job(**dict(who), task=task, task_digest=digest, trial=1)
        for task, digest in dict(tasks).items()
        for who in agents
    ]
    return [
        job.model_copy(update={"trial": trial}) for trial in range(1, trials + 1) for job in first
    ]


class Batch:
    """Jobs on their way. `results` is for one thread."""

    def __init__(
        self,
        prepare: Prepare,
        engine: Engine,
        store: Store,
        at_once: int,
        cpus: int | None = None,
        listener: Callable[[Job], Listener] = lambda _: Silent(),
    ) -> None:
        """`cpus` of them have to do for all runs, where that is known.

        `listener` gives who hears of a run while it goes on, from the thread that does it.
        """
        if at_once < 1:
            raise UsageError(f"{at_once} runs at once get nowhere.", "Give --jobs a number from 1.")
        self._stop = Stop()
        self._prepare = prepare
        self._engine = self._stop.engine(engine)
        self._store = store
        self._at_once = at_once
        self._listener = listener
        self._queue = Queue(cpus, self._stop.check) if cpus else None
        self._done: queue.SimpleQueue[JobResult] = queue.SimpleQueue()

    def results(self, jobs: Iterable[Job]) -> Generator[JobResult, None, None]:
        """Do the jobs and give each result as it comes.

        A job is asked for when it can begin, in the thread that takes the results. An interrupt
        here or in whoever takes the results is raised again when every run has recorded its end;
        `remaining` has the results that came meanwhile.
        """
        with ThreadPoolExecutor(self._at_once, thread_name_prefix="run") as pool:
            futures: list[Future[None]] = []
            left = iter(jobs)
            try:
                for job in islice(left, self._at_once):
                    futures.append(pool.submit(self._do, job))  # noqa: PERF401 - see below
                for _ in futures:  # of which there are more as it goes on
                    yield self._next()
                    for job in islice(left, 1):
                        futures.append(pool.submit(self._do, job))  # noqa: PERF401
            except BaseException:
                # It may come while jobs are handed over: those that nobody has noted go as well.
                pool.shutdown(wait=False, cancel_futures=True)
                self._stop.finish(futures)
                raise

    def _next(self) -> JobResult:
        """Wait for a result, in slices: between them a signal is heard."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self._done.get(timeout=SLICE_SECONDS)

    def remaining(self) -> list[JobResult]:
        """Give the results that nobody has taken."""
        found = []
        while not self._done.empty():
            found.append(self._done.get())
        return found

    def stop(self) -> None:
        """End what goes on now, from any thread; to be repeated for what is about to begin."""
        self._stop.request()

    def _do(self, job: Job) -> None:
        """Do one job, and tell of it."""
        result = self._result(job)
        if result.verdict is Verdict.ERROR:
            # Errors of a client and its connections hold each other: to an engine that is gone
            # these would stay open until Python looks for cycles by itself.
            gc.collect()
        self._done.put(result)

    def _result(self, job: Job) -> JobResult:
        """Do one job; whatever goes wrong becomes its result."""
        begun: list[RunFolder] = []
        try:
            trial = self._prepare(job)
            watched = self._watched(trial, begun)
            folder = perform(watched, self._engine, self._store, self._listener(job))
            record = folder.record()
            return JobResult(job=job, run=folder.id, verdict=record.verdict, crashed=record.crashed)
        except KeyboardInterrupt:
            run = begun[0].id if begun else None
            return JobResult(
                job=job,
                run=run,
                verdict=Verdict.ERROR if begun else None,
                problem="It was interrupted.",
                interrupted=True,
            )
        except Exception as error:  # noqa: BLE001 - a run's crash is its result, others go on
            problem = (
                error.message
                if isinstance(error, SandboxError)
                else f"{type(error).__name__}: {error}"
            )
            return JobResult(
                job=job,
                run=begun[0].id if begun else None,
                verdict=Verdict.ERROR,
                problem=problem,
                lasting=isinstance(error, SandboxError) and error.exit_code == LASTING,
            )

    def _watched(self, trial: Trial, begun: list[RunFolder]) -> Trial:
        def agent(folder: RunFolder) -> Agent:
            made = self._stop.agent(trial.agent(folder))
            begun.append(folder)
            return made

        place = self._queue.place() if self._queue else FREE
        understand = self._stop.waiting(trial.understand) if trial.understand else None
        return replace(trial, agent=agent, place=place, understand=understand)


def exit_code(results: Sequence[JobResult]) -> int:
    """0 where all passed; else the highest of 1 some failed, 3 some errors, 4 some invalid."""
    codes = {Verdict.PASSED: 0, Verdict.FAILED: 1, Verdict.ERROR: 3, Verdict.INVALID: 4, None: 3}
    return max((codes[result.verdict] for result in results), default=0)
