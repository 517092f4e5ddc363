"""Options that several verbs share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sandbox.model.store import Store

RunsOption = Annotated[
    Path | None,
    typer.Option("--runs", help="Where runs are kept; SANDBOX_RUNS, else ./runs, by default."),
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def open_store(runs: Path | None) -> "Store":
    """Open the store of runs."""
    from sandbox.model import places
    from sandbox.model.store import Store

    return Store(runs or places.runs())


def task_names(incomplete: str) -> list[str]:
    """Complete the name of a task."""
    from sandbox.tasks import library

    return [name for name in library.names() if name.startswith(incomplete)]


TasksArgument = Annotated[
    list[str],
    typer.Argument(
        help="Tasks: names, patterns like 'qs/*', `all`, or a suite's YAML file.",
        autocompletion=task_names,
    ),
]
