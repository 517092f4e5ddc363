"""Options that several verbs share."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.model.engine_kinds import ENGINE_KINDS, ENGINE_VARIABLE

if TYPE_CHECKING:
    from sandbox.model.store import Store

RunsOption = Annotated[
    Path | None,
    typer.Option("--runs", help="Where runs are kept; SANDBOX_RUNS, else ./runs, by default."),
]


def choose_engine(name: str | None) -> str | None:
    """Note the engine that all of this process, and those it starts, are to use."""
    if name is not None:
        if name not in ENGINE_KINDS:
            raise typer.BadParameter(f"there is {' and '.join(ENGINE_KINDS)}")
        os.environ[ENGINE_VARIABLE] = name
    return name


EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine",
        callback=choose_engine,
        help="`docker`, or `native`: containers without a daemon, on Linux. "
        "SANDBOX_ENGINE by default.",
    ),
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def open_store(runs: Path | None) -> "Store":
    """Open the store of runs."""
    from sandbox.model import places
    from sandbox.model.store import Store

    return Store(runs or places.runs())


RunArgument = Annotated[
    str,
    typer.Argument(help="A run: `last` or the start of its name.", autocompletion=completion.runs),
]
TaskArgument = Annotated[
    str, typer.Argument(help="A task, e.g. `humanize/file-sizes`.", autocompletion=completion.tasks)
]
ExperimentOption = Annotated[
    str | None,
    typer.Option(help="Only runs of this experiment.", autocompletion=completion.experiments),
]
TasksArgument = Annotated[
    list[str],
    typer.Argument(
        help="Tasks: names, patterns like 'qs/*', `all`, `gold`, or a suite's YAML file.",
        autocompletion=completion.tasks,
    ),
]
