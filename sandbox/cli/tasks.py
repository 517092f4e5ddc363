"""`sandbox tasks`: list what can be run."""

import json
from typing import Annotated

import typer

from sandbox.cli.terminal import line


def tasks(*, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the tasks."""
    from sandbox import tasks as library

    rows = [library.load(name).task for name in library.names()]
    if as_json:
        typer.echo(
            json.dumps(
                [
                    {"id": task.id, "facet": task.facet, "title": task.title, "tags": task.tags}
                    for task in rows
                ],
                indent=1,
            )
        )
        return
    widest = max((len(task.id) for task in rows), default=0)
    for task in rows:
        typer.echo(f"{task.id:<{widest}}  {task.facet:<21}  {line(task.title)}")
