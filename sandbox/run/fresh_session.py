"""The container that the agent never saw, in which its candidate is tested."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Self

from sandbox.container.candidate import Candidate
from sandbox.container.engines.base import Session
from sandbox.grading.commit_hooks import are_to_be_asked, asked_of_hooks
from sandbox.grading.grading_session import GradingSession
from sandbox.grading.hidden import run_tests
from sandbox.model.change import ChangeSet
from sandbox.model.grade import TestReport
from sandbox.run.disk_watch import DiskWatch
from sandbox.tasks.library import LoadedTask


class FreshSession:
    """Started and prepared in the background, or when it is asked for."""

    def __init__(
        self,
        task: LoadedTask,
        start: Callable[[], Session],
        pool: ThreadPoolExecutor,
        *,
        early: bool,
    ) -> None:
        """`start` starts it; `early` has the pool do so at once."""
        self._task, self._begin, self._pool = task, start, pool
        self._session: Session | None = None
        self._starting = self._start() if early else None

    def session(self) -> Session:
        """Wait for it."""
        return self._prepared().session

    def asked(self, used: Session, changes: ChangeSet) -> ChangeSet:
        """Ask hooks about the commits of a used session, where that is to be done.

        What they leave is taken away, and what was prepared may be with it: that is done anew.
        DiskError where others filled the disk.
        """
        if not are_to_be_asked(self._task, changes):
            return changes
        session = self.session()
        first = self._prepared()
        first.close()
        first.tidy()
        with self._watched():
            told = asked_of_hooks(self._task, used, changes, session)
        self._starting = self._pool.submit(GradingSession.prepare, self._task, session)
        return told

    def tested(self, candidate: Candidate) -> TestReport:
        """Run the hidden tests while the disk is watched; DiskError where others filled it."""
        with self._watched() as watch:
            report = run_tests(self._prepared(), candidate)
        if not watch.exceeded:
            return report
        problem = f"The candidate filled its disk while it was tested. {watch.exceeded}"
        return TestReport(outcomes={}, problem=problem)

    @contextmanager
    def _watched(self) -> Iterator[DiskWatch]:
        watch = DiskWatch(self.session(), self._task.task.limits)
        watch.begin()
        try:
            yield watch
            watch.end()
        finally:
            watch.stop()
        watch.check()

    def _prepared(self) -> GradingSession:
        if self._starting is None:
            self._starting = self._start()
        return self._starting.result()

    def _start(self) -> Future[GradingSession]:
        return self._pool.submit(self._prepare)

    def _prepare(self) -> GradingSession:
        self._session = self._begin()
        return GradingSession.prepare(self._task, self._session)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._starting is not None:
                self._starting.exception()  # waits for it
        finally:
            if self._session is not None:
                self._session.close()
