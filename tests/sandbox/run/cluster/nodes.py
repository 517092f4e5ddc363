"""A cluster in this process, whose nodes do what a test says."""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from sandbox.model.experiment import Plan
from sandbox.model.job import Job, JobResult
from sandbox.model.run import RunRecord
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.model.version import VERSION
from sandbox.run.cluster.cell import Cell, Delivery, digest_of
from sandbox.run.cluster.cluster import Kept, Needs, Work
from sandbox.run.cluster.spread import Spread
from sandbox.run.experiment import Experiment

Do = Callable[[Cell, bytes | None], Delivery]


class Simulated:
    """Does one cell after the other, when it is asked what is over."""

    def __init__(self, do: Do, width: int = 3) -> None:
        self._do, self._width = do, width
        self._numbers = itertools.count()
        self._begun: dict[Work, tuple[Cell, bytes | None]] = {}
        self.kept: list[bytes] = []
        self.cancelled: list[Work] = []
        self.most = 0

    def width(self, needs: Needs) -> int:
        assert needs.cpus > 0
        return self._width

    def keep(self, data: bytes) -> Kept:
        self.kept.append(data)
        return data

    def begin(self, cell: Cell, needs: Needs, image: Kept | None) -> Work:
        assert needs.memory_bytes > 0
        work = next(self._numbers)
        self._begun[work] = cell, cast("bytes | None", image)
        self.most = max(self.most, len(self._begun))
        return work

    def over(self, works: Sequence[Work], seconds: float) -> Sequence[Work]:
        assert seconds > 0
        return [works[len(self.cancelled) % len(works)]]

    def delivery(self, work: Work) -> Delivery:
        return self._do(*self._begun.pop(work))

    def cancel(self, works: Sequence[Work]) -> None:
        self.cancelled += works

    def close(self) -> None:
        pass


class Runs:
    """Makes runs as a node does, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._store = Store(folder)
        self._numbers = itertools.count(1)

    def of(self, cell: Cell, verdict: Verdict = Verdict.FAILED) -> Delivery:
        run = f"{next(self._numbers):08x}-a-b"
        folder = self._store.create(
            RunRecord(
                id=run,
                task=cell.job.task,
                task_digest=cell.job.task_digest,
                image="i",
                image_id="i",
                agent=cell.job.agent,
                experiment=cell.experiment,
                sandbox_version="0.1.0",
                engine="e",
                started="2026",
                verdict=verdict,
            )
        )
        folder.let_go()
        files = {"run.json": (folder.path / "run.json").read_bytes(), "log/a": b"\0"}
        result = JobResult(job=cell.job, run=run, verdict=verdict)
        return Delivery(node="n", result=result, files=files, digest=digest_of(files))


def spread(cluster: Simulated, experiment: Experiment, store: Store) -> Spread:
    def cell(job: Job) -> tuple[Cell, Needs]:
        one = {"cells": (job.model_copy(update={"trial": 1}),)}
        plan: Plan = experiment.plan.model_copy(update=one)
        made = Cell(version=VERSION, experiment=experiment.name, plan=plan, image="i:1")
        return made, Needs(cpus=1, memory_bytes=1)

    return Spread(cluster, experiment, store, cell, lambda tag: tag.encode())
