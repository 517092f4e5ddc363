"""Several runs at once: a line for each as it ends, then what they come to."""

import sys
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.agent import AgentChoice, choose_agent
from sandbox.cli.inside import InsideChoice
from sandbox.cli.terminal import Progress, coloured, line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sandbox.cli.agent import AgentChoice
    from sandbox.container.engines.base import Engine
    from sandbox.model.job import Job, JobResult
    from sandbox.model.store import Store
    from sandbox.run.batch import Batch
    from sandbox.run.trial import Trial
    from sandbox.tasks.library import LoadedTask

REASON = 70
"""Characters of a reason on a run's line."""


@dataclass(frozen=True, slots=True)
class Amount:
    """How much is run, as the command line says."""

    trials: Annotated[int, typer.Option(help="How often each task is run.")] = 1
    jobs: Annotated[int, typer.Option(min=1, help="How many runs go on at once.")] = 1


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be run."""

    tasks: "Sequence[LoadedTask]"
    agent: AgentChoice
    within: InsideChoice
    amount: Amount
    approver: str
    keep: bool = False


def run(order: Order, store: "Store", *, as_json: bool) -> int:
    """Run all trials of all tasks and return the exit code."""
    from sandbox.container import engines
    from sandbox.run import batch as batches
    from sandbox.run.capacity import Capacity

    jobs = batches.plan(
        [(task.task.id, task.digest) for task in order.tasks],
        order.agent.agent,
        order.amount.trials,
    )
    progress = Progress(sys.stderr if as_json else sys.stdout)
    engine = engines.connect()
    try:
        prepare = _prepare(order, engine, progress)
        tasks = [task.task for task in order.tasks]
        capacity = Capacity.of(engine)
        at_once, remark = capacity.at_once(min(order.amount.jobs, len(jobs)), tasks)
        if remark:
            progress.done(f"note: {remark}")
        batch = batches.Batch(prepare, engine, store, at_once, capacity.cpus)
        results = _follow(batch, jobs, store, progress)
    finally:
        progress.close()
        engine.close()
    if as_json:
        rows = ",\n".join(f" {result.model_dump_json()}" for result in results)
        typer.echo(f"[\n{rows}\n]")
    else:
        typer.echo(summary(results, len(jobs)))
        typer.echo("rates and intervals: sandbox report")
    return batches.exit_code(results)


def _prepare(order: Order, engine: "Engine", progress: Progress) -> "Callable[[Job], Trial]":
    """Build every image, then give what makes a trial of a job."""
    from sandbox.cli.approver import choose_approver
    from sandbox.model import places
    from sandbox.run.trial import Trial
    from sandbox.tasks.images import Images

    images = Images(engine, places.cache())
    loaded = {task.task.id: task for task in order.tasks}
    built = {name: images.ensure(task, progress.doing) for name, task in loaded.items()}
    agents = {name: choose_agent(order.agent, task) for name, task in loaded.items()}
    for agent in list(agents.values())[:1]:
        for warning in agent.warnings:
            progress.done(f"warning: {warning}")

    def prepare(job: "Job") -> Trial:
        task = loaded[job.task]
        return Trial(
            task=task,
            image=built[job.task],
            agent=agents[job.task],
            approver=choose_approver(order.approver, task.task),
            keep=order.keep,
            mode=order.agent.trial_mode,
            label=agents[job.task].label,
            actor=agents[job.task].actor,
            client=agents[job.task].client,
            inside=agents[job.task].inside,
        )

    return prepare


def _follow(
    batch: "Batch", jobs: "Sequence[Job]", store: "Store", progress: Progress
) -> "list[JobResult]":
    """Show each result as it comes, those after an interrupt too."""
    widest = max(len(job.task) for job in jobs)
    found: list[JobResult] = []

    def show(result: "JobResult") -> None:
        found.append(result)
        progress.done(f"{len(found):>4}/{len(jobs)}  {row(result, store, widest)}")

    progress.doing(f"{len(jobs)} runs")
    try:
        with closing(batch.results(jobs)) as results:
            for result in results:
                show(result)
                progress.doing(f"{len(jobs) - len(found)} runs to go")
    except KeyboardInterrupt:
        for result in batch.remaining():
            show(result)
        progress.done(summary(found, len(jobs)))
        raise
    return found


def row(result: "JobResult", store: "Store", widest: int) -> str:
    """One line for one run: what became of it, and the first reason against it."""
    word = _word(result)
    size, reason = "", result.problem
    if result.run and not result.problem:
        size, reason = _outcome(result.run, store)
    short = line(reason)
    short = short if len(short) <= REASON else short[: REASON - 1] + "…"
    name = result.run[:8] if result.run else "-"
    return (
        f"{coloured(f'{word:<8}')} {result.job.task:<{widest}} {result.job.trial:>4}"
        f"  {name:<8} {size:>20}  {short}"
    ).rstrip()


def _word(result: "JobResult") -> str:
    """Say in a word what became of a run."""
    if result.interrupted:
        return "stopped"
    return "crashed" if result.crashed else str(result.verdict or "error")


def _outcome(run: str, store: "Store") -> tuple[str, str]:
    """Turns and seconds of a graded run, and the first reason against it."""
    from sandbox.model import trace as traces
    from sandbox.model.errors import StoreError
    from sandbox.model.grade import RunGrade

    folder = store.folder(run)
    grade = folder.load(folder.grade, RunGrade)
    reason = next((each.message for part in grade.grades for each in part.reasons), "")
    try:
        entries = traces.read(folder.trace).entries
    except StoreError:
        return "", reason
    last = entries[-1].event if entries else None
    if last is None or last.kind != "run_ended":
        return "", reason
    return f"{last.turns} turns {last.seconds:6.1f} s", reason


def summary(results: "Sequence[JobResult]", planned: int) -> str:
    """Count what became of the runs."""
    counts = Counter(map(_word, results))
    words = ("passed", "failed", "crashed", "invalid", "error", "stopped")
    parts = [f"{counts[word]} {word}" for word in words if counts[word]]
    if planned > len(results):
        parts.append(f"{planned - len(results)} never begun")
    return f"{planned} runs: {', '.join(parts)}"
