"""`sandbox tasks`: list what can be run, and the sessions that are open."""

from pathlib import Path
from typing import Annotated

import typer

from sandbox.cli.options import JsonOption, RunsOption, open_store
from sandbox.cli.terminal import line, mutter
from sandbox.model.errors import DocumentError


def tasks(
    *,
    as_json: JsonOption = False,
    suite: Annotated[
        Path | None,
        typer.Option(help="List this suite instead; exit code 1 where it is not as pinned."),
    ] = None,
    runs: RunsOption = None,
) -> None:
    """List the tasks, and the sessions that are open."""
    if suite is not None:
        _suite(suite, as_json=as_json)
        return
    from sandbox.cli.open_sessions import is_open
    from sandbox.tasks import library

    rows, broken = [], []
    for name in library.names():
        try:
            rows.append(library.load(name).task)
        except DocumentError as error:
            broken.append(error)
    opened = [folder for folder in open_store(runs).called() if is_open(folder)]
    sessions = {folder.id: folder.record() for folder in opened}
    if as_json:
        from sandbox.cli import outputs
        from sandbox.cli.output_records import TaskRow

        listed = [
            TaskRow(
                id=task.id,
                facet=task.facet,
                title=task.title,
                tags=task.tags,
                open=tuple(run for run, record in sessions.items() if record.task == task.id),
            )
            for task in rows
        ]
        outputs.write("tasks all", listed)
        _refuse(broken)
        return
    widest = max((len(task.id) for task in rows), default=0)
    for task in rows:
        typer.echo(f"{task.id:<{widest}}  {task.facet:<21}  {line(task.title)}")
    for run, record in sessions.items():
        typer.echo(f"open  {run}  {line(record.acting)}  since {record.started}")
    _refuse(broken)


def _refuse(broken: list[DocumentError]) -> None:
    """Say which tasks cannot be read, once the others are told."""
    if broken:
        message = "\n".join(error.message for error in broken)
        raise DocumentError(message, "Correct what is named; no other task is touched by it.")


def _suite(path: Path, *, as_json: bool) -> None:
    from sandbox.tasks.suites import suite

    pins = suite.read(path)
    wrong = list(suite.differing(pins))
    if as_json:
        from sandbox.cli import outputs

        outputs.write("tasks suite", [*pins.variants])
    else:
        for pin in pins.variants:
            typer.echo(f"{pin.facet:<21}  {pin.level}  {pin.variant}")
    for each in wrong:
        mutter(f"{line(each)}\n")
    if wrong:
        mutter(f"{len(wrong)} of {len(pins.variants)} are not as they were pinned\n")
        raise typer.Exit(1)
