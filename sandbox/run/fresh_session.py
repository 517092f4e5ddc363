"""The container that the agent never saw, in which its candidate is tested."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Self

from sandbox.container.candidate import Candidate
from sandbox.container.engines.base import Session
from sandbox.grading.commit_hooks import are_to_be_asked, asked_of_hooks
from sandbox.grading.hidden import run_tests
from sandbox.model.change import ChangeSet
from sandbox.model.grade import TestReport
from sandbox.run.disk_watch import DiskWatch
from sandbox.tasks.library import LoadedTask


class FreshSession:
    """Started in the background or when it is asked for."""

    def __init__(
        self, start: Callable[[], Session], pool: ThreadPoolExecutor, *, early: bool
    ) -> None:
        """`start` starts it; `early` has the pool do so at once."""
        self._begin, self._pool = start, pool
        self._starting = self._start() if early else None

    def session(self) -> Session:
        """Wait for it."""
        if self._starting is None:
            self._starting = self._start()
        return self._starting.result()

    def asked(self, task: LoadedTask, used: Session, changes: ChangeSet) -> ChangeSet:
        """Ask hooks about the commits of a used session, where that is to be done.

        DiskError where others filled the disk.
        """
        if not are_to_be_asked(task, changes):
            return changes
        with self._watched(task):
            return asked_of_hooks(task, used, changes, self.session())

    def tested(self, task: LoadedTask, candidate: Candidate) -> TestReport:
        """Run the hidden tests while the disk is watched; DiskError where others filled it."""
        with self._watched(task) as watch:
            report = run_tests(task, self.session(), candidate)
        if not watch.exceeded:
            return report
        problem = f"The candidate filled its disk while it was tested. {watch.exceeded}"
        return TestReport(outcomes={}, problem=problem)

    @contextmanager
    def _watched(self, task: LoadedTask) -> Iterator[DiskWatch]:
        watch = DiskWatch(self.session(), task.task.limits)
        watch.begin()
        try:
            yield watch
            watch.end()
        finally:
            watch.stop()
        watch.check()

    def _start(self) -> Future[Session]:
        return self._pool.submit(self._begin)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._starting is not None and self._starting.exception() is None:
            self._starting.result().close()
