"""`sandbox tasks`: list what can be run, and the sessions that are open."""

import json
from typing import Annotated

import typer

from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.terminal import line


def tasks(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    runs: RunsOption = None,
) -> None:
    """List the tasks, and the sessions that are open."""
    from sandbox.cli.open_sessions import is_open
    from sandbox.tasks import library

    rows = [library.load(name).task for name in library.names()]
    opened = [folder for folder in open_store(runs).called() if is_open(folder)]
    sessions = {folder.id: folder.record() for folder in opened}
    if as_json:
        typer.echo(
            json.dumps(
                [
                    {
                        "id": task.id,
                        "facet": task.facet,
                        "title": task.title,
                        "tags": task.tags,
                        "open": [run for run, record in sessions.items() if record.task == task.id],
                    }
                    for task in rows
                ],
                indent=1,
            )
        )
        return
    widest = max((len(task.id) for task in rows), default=0)
    for task in rows:
        typer.echo(f"{task.id:<{widest}}  {task.facet:<21}  {line(task.title)}")
    for run, record in sessions.items():
        typer.echo(f"open  {run}  {line(record.acting)}  since {record.started}")
