"""Several runs: an experiment, with a line for each run as it ends, then what they come to."""

import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, TextIO

import typer

from sandbox.cli.board import Board, clock
from sandbox.cli.order import Order, opened
from sandbox.cli.terminal import Progress, coloured, line
from sandbox.cli.works import Begin, Undertaking, place

if TYPE_CHECKING:
    from collections.abc import Collection

    from sandbox.model.job import Job, JobResult
    from sandbox.model.store import Store
    from sandbox.run.experiment import Experiment

REASON = 70
"""Characters of a reason on a run's line."""

LONGEST_PAUSE = 30.0
"""Seconds between two rounds at most, in which what went wrong may pass."""

PAUSE = 0.5
"""Seconds between two looks at what other processes do."""


def run(order: Order, store: "Store", *, as_json: bool) -> int:
    """Do what is left of an experiment and return the exit code of the whole of it."""
    from sandbox.run import batch as batches

    stream = sys.stderr if as_json else sys.stdout
    if order.amount.jobs:
        experiment, found = performed(order, store, stream)
    else:
        experiment = opened(order, list(order.cast()), store)
        found = experiment.done()
    if as_json:
        from sandbox.cli import outputs

        outputs.write("run experiment", found)
    elif not order.amount.jobs:
        told = f"{len(found)} of {len(experiment.plan.cells)} runs are over"
        typer.echo(f"experiment {experiment.name} is planned: {told}")
        typer.echo(f"any number of these do it together: sandbox resume {experiment.name}")
    else:
        typer.echo(summary(found, len(experiment.plan.cells)))
        typer.echo(f"rates and intervals: sandbox report --experiment {experiment.name}")
    return batches.exit_code(found)


def performed(order: Order, store: "Store", stream: TextIO) -> "tuple[Experiment, list[JobResult]]":
    """Do what is left of an experiment; return it with the last result of each of its jobs."""
    from sandbox.container import engines

    cast = order.cast()
    progress = Progress(stream)
    experiment = opened(order, list(cast), store)
    cells = len(experiment.plan.cells)
    experiment.hold()
    engine = engines.connect()
    try:
        for warning in dict.fromkeys(
            each for made in cast.values() for agent in made.values() for each in agent.warnings
        ):
            progress.done(f"warning: {warning}")
        over = experiment.done()
        left = cells - len(over)
        if over:
            told = f"{' goes on' if left else ''}: {len(over)} of {cells} runs are over"
            progress.done(f"experiment {experiment.name}{told}")
        results = []
        if left:
            with (
                place(Undertaking(order, cast, experiment, engine, store, progress)) as begin,
                Board(progress, stream) as board,
            ):
                results = _Rounds(order, experiment, begin, board).all(store)
    finally:
        progress.close()
        engine.close()
        experiment.let_go()
    return experiment, _newest([*over, *results], experiment.done())


def _newest(own: "Sequence[JobResult]", over: "Sequence[JobResult]") -> "list[JobResult]":
    """Give the last result of each job, that of others where nothing came of this process's own."""
    from sandbox.model.verdict import Verdict

    found = {result.job: result for result in own}
    for result in over:
        if result.job not in found or found[result.job].verdict in (Verdict.ERROR, None):
            found[result.job] = result
    return list(found.values())


class _Rounds:
    """What is left of an experiment, run; and what errors have ended, run again."""

    def __init__(
        self,
        order: Order,
        experiment: "Experiment",
        begin: Begin,
        board: "Board",
    ) -> None:
        self._order = order
        self._experiment = experiment
        self._begin = begin
        self._board = board
        self._results: list[JobResult] = []

    def all(self, store: "Store") -> "list[JobResult]":
        """Run until nothing is left that trying again may help, or it was tried often enough."""
        import tenacity

        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(1 + self._order.amount.retries),
            wait=tenacity.wait_exponential(multiplier=1, max=LONGEST_PAUSE),
            retry=tenacity.retry_if_result(bool),
            retry_error_callback=lambda _: None,
        )
        retrying(self._round, store)
        return self._results

    def _round(self, store: "Store") -> bool:
        """Run what is left; whether trying again may help some of it."""
        from sandbox.model.job import Job
        from sandbox.model.verdict import Verdict

        before, tried = len(self._results), set[Job]()
        hopeless = {result.job for result in self._results if result.lasting}
        left = [job for job in self._experiment.left() if job not in hopeless]
        if before and left:
            self._board.done(f"again, what errors have ended: {len(left)} runs")
        while left:
            self._follow(left, hopeless | tried, store)
            tried = {result.job for result in self._results[before:]}
            left = self._left_by_others(hopeless | tried)
        last = self._results[before:]
        return any(result.verdict is Verdict.ERROR and not result.lasting for result in last)

    def _left_by_others(self, tried: "Collection[Job]") -> "list[Job]":
        """Wait for the cells that other processes are doing; give those that they have left."""
        while others := self._experiment.elsewhere():
            self._board.doing(f"{others} runs are being done by other processes")
            time.sleep(PAUSE)
        return [job for job in self._experiment.left() if job not in tried]

    def _follow(
        self, jobs: "Sequence[Job]", passed_over: "Collection[Job]", store: "Store"
    ) -> None:
        """Run what nobody else does; show each result as it comes, those after an interrupt too."""
        batch = self._begin(len(jobs), self._board)
        widest = max(len(job.task) for job in jobs)
        before, began = len(self._results), time.monotonic()

        def show(result: "JobResult") -> None:
            self._experiment.over(result)
            self._board.over(result.job)
            self._results.append(result)
            number = len(self._results) - before
            text = row(result, store, widest, with_agent=len(self._order.agents) > 1)
            self._board.done(f"{number:>4}/{len(jobs)}  {text}")

        self._board.doing(f"{len(jobs)} runs")
        try:
            with closing(batch.results(self._experiment.taken(passed_over))) as results:
                for result in results:
                    show(result)
                    number = len(self._results) - before
                    self._board.doing(remaining(number, len(jobs), time.monotonic() - began))
        except KeyboardInterrupt:
            for result in batch.remaining():
                show(result)
            self._board.done(summary(self._results[before:], len(jobs)))
            self._board.done("the same command goes on where this one stopped")
            raise


def remaining(over: int, planned: int, seconds: float) -> str:
    """Say how far it is, and about how long the rest takes."""
    left = seconds / over * (planned - over)
    runs = "1 run" if planned - over == 1 else f"{planned - over} runs"
    return f"{runs} to go, {clock(seconds)} so far, about {clock(left)} left"


def row(result: "JobResult", store: "Store", widest: int, *, with_agent: bool = False) -> str:
    """One line for one run: what became of it, and the first reason against it."""
    word = _word(result)
    size, reason = "", result.problem
    if result.run and not result.problem:
        size, reason = _outcome(result.run, store)
    short = line(reason)
    short = short if len(short) <= REASON else short[: REASON - 1] + "…"
    name = result.run[:8] if result.run else "-"
    who = f"  {line(result.job.agent)} ({result.job.mode})" if with_agent else ""
    return (
        f"{coloured(f'{word:<8}')} {result.job.task:<{widest}} {result.job.trial:>4}"
        f"  {name:<8} {size:>20}{who}  {short}"
    ).rstrip()


def _word(result: "JobResult") -> str:
    """Say in a word what became of a run."""
    if result.interrupted:
        return "stopped"
    return "crashed" if result.crashed else str(result.verdict or "error")


def _outcome(run: str, store: "Store") -> tuple[str, str]:
    """Turns and seconds of a graded run, and the first reason against it."""
    from sandbox.grading.first_reason import first_reason
    from sandbox.model.grade import RunGrade

    folder = store.folder(run)
    end = folder.record().end
    if end is None:
        return "", ""
    size = f"{end.turns} turns {end.seconds:6.1f} s"
    if end.how == "crashed":
        return size, end.message
    first = first_reason(folder.load(folder.grade, RunGrade))
    return size, first.reason.message if first else ""


def summary(results: "Sequence[JobResult]", planned: int) -> str:
    """Count what became of the runs."""
    counts = Counter(map(_word, results))
    words = ("passed", "failed", "crashed", "invalid", "error", "stopped")
    parts = [f"{counts[word]} {word}" for word in words if counts[word]]
    if planned > len(results):
        parts.append(f"{planned - len(results)} never begun")
    return f"{planned} runs: {', '.join(parts)}"
