"""An experiment's cells, done by a cluster: as many on their way as it can do, each once."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress

from sandbox.model.job import Job, JobResult
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.run.cluster.arrival import laid
from sandbox.run.cluster.cell import Cell
from sandbox.run.cluster.cluster import Cluster, ClusterError, Kept, Needs, NodeLostError, Work
from sandbox.run.experiment import Experiment

SLICE_SECONDS = 0.5
"""How long is waited until a signal is heard."""

AHEAD = 2
"""How many cells are on their way for each that the cluster can do at once."""

Archive = Callable[[str], bytes]
"""Gives the archive of an image by its tag."""


class Spread:
    """Jobs on their way to nodes and back. For one thread."""

    def __init__(
        self,
        cluster: Cluster,
        experiment: Experiment,
        store: Store,
        cell: Callable[[Job], tuple[Cell, Needs]],
        archive: Archive,
        most: int | None = None,
    ) -> None:
        """`cell` makes a job one that can travel; at `most` so many are on their way."""
        self._cluster, self._experiment, self._store = cluster, experiment, store
        self._cell, self._archive, self._most = cell, archive, most
        self._works: dict[Work, Job] = {}
        self._last: Needs | None = None
        self._images: dict[str, Kept] = {}
        """What the cluster keeps of the images that a node has asked for, by tag."""

    def results(self, jobs: Iterable[Job]) -> Generator[JobResult, None, None]:
        """Do the jobs and give each result as it comes.

        A job is asked for when it can be sent. An interrupt, or the cluster's end, ends what goes
        on there; `remaining` names it, and it is done again.
        """
        left = iter(jobs)
        try:
            self._send(left)
            while self._works:
                for work in self._cluster.over(list(self._works), SLICE_SECONDS):
                    result = self._taken(work)
                    if result is not None:
                        yield result
                    self._send(left)
        except BaseException:
            with suppress(ClusterError):
                self._cluster.cancel(list(self._works))
            raise

    def remaining(self) -> list[JobResult]:
        """Give the results that nobody has taken: of what was interrupted."""
        found = [
            JobResult(
                job=job,
                run=None,
                verdict=None,
                problem="It was interrupted.",
                interrupted=True,
            )
            for job in self._works.values()
        ]
        self._works.clear()
        return found

    def _send(self, left: Iterator[Job]) -> None:
        """Send as many as may be on their way."""
        while self._has_room() and (job := next(left, None)):
            self._begin(job)

    def _has_room(self) -> bool:
        """Whether one more of the size of the last one may be on its way."""
        if not self._works or self._last is None:
            return True
        room = AHEAD * self._cluster.width(self._last)
        return len(self._works) < (room if self._most is None else min(room, self._most))

    def _begin(self, job: Job) -> None:
        cell, self._last = self._cell(job)
        work = self._cluster.begin(cell, self._last, self._images.get(cell.image))
        self._works[work] = job

    def _taken(self, work: Work) -> JobResult | None:
        """Take what came of a job; None where it was sent again, with the image that it lacked."""
        job = self._works.pop(work)
        try:
            delivery = self._cluster.delivery(work)
        except NodeLostError as error:
            return JobResult(job=job, run=None, verdict=Verdict.ERROR, problem=error.message)
        if delivery.lacks_image:
            cell, _ = self._cell(job)
            if cell.image not in self._images:
                self._images[cell.image] = self._cluster.keep(self._archive(cell.image))
            self._begin(job)
            return None
        return laid(delivery, job, self._experiment, self._store)
