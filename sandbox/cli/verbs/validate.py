"""`sandbox validate`: prove a task in real containers."""

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.grouped import grouped
from sandbox.cli.options import JsonOption, RunsOption, open_store
from sandbox.cli.terminal import Progress, coloured, line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.cli.output_records import Validated
    from sandbox.run.validate import Check, Options, Row

JOBS = min(os.cpu_count() or 2, 8)
STATUS = {"ok": "ok ", "bad": "bad", "error": "bad", "skipped": "-- "}
WIDEST = 60
"""Columns that what was tried may take."""


@dataclass(frozen=True, slots=True)
class Thoroughness:
    """What is proved, and how thoroughly, as the command line says."""

    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHECK",
            help="Only this check, perhaps several times: "
            "graph, facts, pins, leaks, inputs, tests, oracle, agents, violators, refused, "
            "rewordings, edges, exploits, gradings, hunks, reset, order.",
        ),
    ] = None
    jobs: Annotated[int, typer.Option(min=1, help="How many runs go on at once.")] = JOBS
    seeds: Annotated[int, typer.Option(min=0, help="Random agents of each task.")] = 3
    gradings: Annotated[
        int, typer.Option(min=1, help="How often the oracle's candidate is graded again.")
    ] = 3
    share: Annotated[
        bool,
        typer.Option(help="Test candidates of agents that are the same once; rows say so."),
    ] = True
    every_edge: Annotated[
        bool, typer.Option("--every-edge", help="Also walk along each edge of the graph.")
    ] = False
    every_rewording: Annotated[
        bool, typer.Option("--every-rewording", help="Try each agent in all rewordings.")
    ] = False

    def options(self) -> "Options":
        """What the validation takes; UsageError for a check that there is not."""
        from sandbox.run.validate import REWORDED, Options

        checks = _chosen(self.only, every_edge=self.every_edge)
        words = None if self.every_rewording else REWORDED
        return Options(checks, self.jobs, self.seeds, self.gradings, self.share, words)


@grouped
def validate(
    tasks: Annotated[list[str], typer.Argument(help="Tasks.", autocompletion=completion.tasks)],
    *,
    how: Thoroughness,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Prove a task: the oracle passes, nobody else does, and each time it is the same.

    docs/validate.md says what each row proves. Exit codes: 0 all hold, 1 something does not,
    2 usage, 3 infrastructure.
    """
    from sandbox.container import engines
    from sandbox.model import places
    from sandbox.run.validate import Validation
    from sandbox.tasks import library
    from sandbox.tasks.images import Images

    begun = time.monotonic()
    loaded = [library.load(name) for name in dict.fromkeys(tasks)]
    options = how.options()
    store = open_store(runs).checks
    progress = Progress()
    engine = engines.connect()
    try:
        images = Images(engine, places.cache())
        pairs = [(task, images.ensure(task, progress.doing)) for task in loaded]
        rows = Validation(pairs, engine, store, options).run(progress.doing)
    finally:
        progress.close()
        engine.close()
    seconds = time.monotonic() - begun
    if as_json:
        from sandbox.cli import outputs

        outputs.write("validate", _validated(rows, seconds))
    else:
        for name in dict.fromkeys(row.task for row in rows):
            for text in table(name, [row for row in rows if row.task == name]):
                typer.echo(text)
        shared = any(row.tests_of for row in rows)
        said = "; * has the test outcomes of the same candidate" if shared else ""
        typer.echo(f"{seconds:.1f} s, {how.jobs} at once{said}")
    if any(row.status == "error" for row in rows):
        raise typer.Exit(3)
    if not all(row.holds for row in rows):
        raise typer.Exit(1)


def _chosen(only: list[str] | None, *, every_edge: bool) -> "frozenset[Check]":
    from sandbox.model.errors import UsageError
    from sandbox.run.validate import Check

    usual = [check.value for check in Check if check is not Check.EDGES]
    wanted = [*(only or usual), *([Check.EDGES.value] if every_edge else [])]
    known = {check.value: check for check in Check}
    for name in wanted:
        if name not in known:
            raise UsageError(f"There is no check {name!r}.", f"There are {', '.join(known)}.")
    return frozenset(known[name] for name in wanted)


def _validated(rows: "Sequence[Row]", seconds: float) -> "Validated":
    from sandbox.cli.output_records import Validated, ValidatedTask

    tasks = {}
    for name in dict.fromkeys(row.task for row in rows):
        mine = tuple(row for row in rows if row.task == name)
        tasks[name] = ValidatedTask(holds=all(row.holds for row in mine), rows=mine)
    holds = all(row.holds for row in rows)
    return Validated(holds=holds, seconds=round(seconds, 1), tasks=tasks)


def table(name: str, rows: "Sequence[Row]") -> list[str]:
    """Render what came of a task's checks."""
    tried = [row for row in rows if row.status != "skipped"]
    skipped = len(rows) - len(tried)
    said = f"{name}: {sum(row.holds for row in tried)} of {len(tried)} hold"
    lines = [said + (f", {skipped} do not apply" if skipped else "")]
    widths = [
        max(len(row.check) for row in rows),
        max(min(WIDEST, len(row.what)) for row in rows),
        max(len(row.result) for row in rows),
    ]
    for row in rows:
        word = coloured(STATUS[row.status])
        check, what, result = (
            line(text).ljust(width)
            for text, width in zip((row.check, row.what, row.result), widths, strict=True)
        )
        run = (row.run or "")[:8] + (f" *{row.tests_of[:8]}" if row.tests_of else "")
        lines.append(f"  {word} {check}  {what}  {result}  {run}".rstrip())
        notes = (f"expected: {row.expected}", *row.notes) if not row.holds else row.notes
        lines += [f"        {line(note)}" for note in notes]
    return lines
