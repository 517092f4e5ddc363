"""`sandbox trace`: what happened in a run, event by event."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sandbox.cli.event_text import told
from sandbox.cli.options import RunArgument, RunsOption, open_store
from sandbox.cli.stored_runs import records
from sandbox.cli.terminal import line
from sandbox.model.errors import EvidenceError

if TYPE_CHECKING:
    from sandbox.model.event import Entry


def summary(entry: "Entry") -> str:
    """One line for one event."""
    event = entry.event
    return f"{entry.sequence:>5}  {entry.elapsed:>8.3f} s  {event.kind:<17}  {line(told(event))}"


def trace(
    run: RunArgument = "last",
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the trace as it is stored, one JSON a line.")
    ] = False,
    as_messages: Annotated[
        Literal["openai", "anthropic"] | None,
        typer.Option(
            "--messages", help="Print it as the messages of a model with tools, in this shape."
        ),
    ] = None,
    runs: RunsOption = None,
) -> None:
    """Show a run's trace as far as it goes, and whether its hash chain is whole."""
    from sandbox.model.trace import read

    folder = open_store(runs).find(run)
    if as_messages is not None:
        from sandbox.run.conversation import conversation

        typer.echo(json.dumps(conversation(folder, as_messages), indent=1, ensure_ascii=False))
        return
    if as_json:
        typer.echo(Path(folder.trace).read_text(encoding="utf-8"), nl=False)
        return
    goes_on = any(record.ended is None for _, record in records([folder]))
    stored = read(folder.trace)
    for entry in stored.entries:
        typer.echo(summary(entry))
    if stored.unended and goes_on:
        typer.echo(f"{len(stored.entries)} events so far, hash chain whole, and the run goes on")
        return
    if stored.problem:
        raise EvidenceError(
            f"The trace of {folder.id} is not whole: {stored.problem}",
            "What stands above is sound; do not trust what came after.",
        )
    typer.echo(f"{len(stored.entries)} events, hash chain whole")
