"""Where the runs of an experiment are done: on this machine, or on the nodes of a cluster."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sandbox.cli.board import Board
from sandbox.cli.order import Cast, Order
from sandbox.cli.terminal import Progress
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.agents.base import Agent
    from sandbox.container.engines.base import Engine
    from sandbox.model.job import Job, JobResult
    from sandbox.model.run_folder import RunFolder
    from sandbox.model.store import Store
    from sandbox.run.cluster.cell import Cell
    from sandbox.run.cluster.cluster import Needs
    from sandbox.run.cluster.ray_cluster import RayCluster
    from sandbox.run.experiment import Experiment
    from sandbox.run.trial import Trial

PEOPLE = ("human", "mcp")
"""Agents that somebody else is, who does not know on which machine a run will be."""


class Works(Protocol):
    """Runs on their way."""

    def results(self, jobs: "Iterable[Job]") -> "Generator[JobResult, None, None]":
        """Do the jobs and give each result as it comes."""

    def remaining(self) -> "list[JobResult]":
        """Give the results that nobody has taken."""


Begin = Callable[[int, Board], Works]
"""Begins with what is left, so many runs."""


@dataclass(frozen=True, slots=True)
class Undertaking:
    """An experiment, and what its runs are done with."""

    order: Order
    cast: Cast
    experiment: "Experiment"
    engine: "Engine"
    store: "Store"
    progress: Progress


@contextmanager
def place(it: Undertaking) -> Iterator[Begin]:
    """Build every image, then give what does the runs where the order wants them."""
    where = it.order.amount.on
    if where is None:
        yield _here(it)
        return
    from sandbox.run.cluster.ray_cluster import RayCluster

    _check_can_travel(it.order)
    it.progress.doing(f"reaching {where}")
    with closing(RayCluster.connect(where)) as cluster:
        yield _spread(it, cluster)


def _here(it: Undertaking) -> Begin:
    prepare, order, engine = _prepare(it), it.order, it.engine

    def begin(left: int, board: Board) -> Works:
        from sandbox.run.batch import Batch
        from sandbox.run.capacity import Capacity

        capacity = Capacity.of(engine)
        tasks = [task.task for task in order.tasks]
        at_once, remark = capacity.at_once(min(order.amount.jobs, left), tasks)
        if remark:
            board.done(f"note: {remark}")
        return Batch(prepare, engine, it.store, at_once, capacity.cpus, board.begun)

    return begin


def _prepare(it: Undertaking) -> "Callable[[Job], Trial]":
    """Build every image, then give what makes a trial of a job."""
    from sandbox.cli.approver import choose_approver
    from sandbox.cli.user_choice import choose_user
    from sandbox.model import places
    from sandbox.model.job import Who
    from sandbox.run.trial import Trial
    from sandbox.tasks.images import Images

    order, experiment, progress = it.order, it.experiment, it.progress
    images = Images(it.engine, places.cache())
    loaded = {task.task.id: task for task in order.tasks}
    user = choose_user(order.conduct.user, order.conduct.user_url, progress.done)
    built = {name: images.ensure(task, progress.doing) for name, task in loaded.items()}

    def prepare(job: "Job") -> Trial:
        task = loaded[job.task]
        agent = it.cast[Who(agent=job.agent, mode=job.mode, version=job.version)][job.task]

        def begun(folder: "RunFolder") -> "Agent":
            experiment.begins(job, folder)
            return agent(folder)

        return Trial(
            task=task,
            image=built[job.task],
            agent=begun,
            approver=choose_approver(order.conduct.approver, task.task),
            understand=user,
            keep=order.conduct.keep,
            allowance=order.conduct.allowance(),
            mode=job.mode,
            label=agent.label,
            actor=agent.actor,
            client=agent.client,
            inside=agent.inside,
            experiment=experiment.name,
        )

    return prepare


def _check_can_travel(order: Order) -> None:
    """UsageError for what is of this machine alone."""
    if order.conduct.keep:
        raise UsageError("A container that a node keeps is out of reach.", "Leave --keep out.")
    if order.conduct.approver == "terminal":
        raise UsageError("A person answers on this machine alone.", "Leave --on out.")
    for choice in order.agents:
        if choice.agent in PEOPLE:
            raise UsageError(f"{choice.agent} acts on this machine alone.", "Leave --on out.")


def _spread(it: Undertaking, cluster: "RayCluster") -> Begin:
    from sandbox.model import places
    from sandbox.model.job import Who
    from sandbox.model.scratch import Scratch
    from sandbox.model.version import VERSION
    from sandbox.run.cluster.cell import Cell
    from sandbox.run.cluster.cluster import Needs
    from sandbox.run.cluster.spread import Spread
    from sandbox.tasks.images import Images

    order, experiment = it.order, it.experiment
    engine, progress = it.engine, it.progress
    images = Images(engine, places.cache())
    agents = dict(zip(it.cast, dict.fromkeys(experiment.plan.agents), strict=True))
    limits = {task.task.id: task.task.limits for task in order.tasks}
    tags = {task.task.id: images.ensure(task, progress.doing).tag for task in order.tasks}

    def cell(job: "Job") -> "tuple[Cell, Needs]":
        who = Who(agent=job.agent, mode=job.mode, version=job.version)
        one = {"agents": (agents[who],), "cells": (job.model_copy(update={"trial": 1}),)}
        plan = experiment.plan.model_copy(update=one)
        most, tag = limits[job.task], tags[job.task]
        needs = Needs(cpus=most.cpus, memory_bytes=most.memory_bytes)
        return Cell(version=VERSION, experiment=experiment.name, plan=plan, image=tag), needs

    def archive(tag: str) -> bytes:
        progress.doing(f"sending {tag} to the cluster")
        with Scratch("archive") as folder:
            engine.save(tag, folder / "image.tar")
            return (folder / "image.tar").read_bytes()

    def begin(left: int, board: Board) -> Works:
        del left, board
        most = order.amount.jobs if order.amount.jobs > 1 else None
        return Spread(cluster, experiment, it.store, cell, archive, most)

    return begin
