"""`sandbox trace`: what happened in a run, event by event."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.terminal import line
from sandbox.model.errors import EvidenceError

if TYPE_CHECKING:
    from sandbox.model.event import Entry


def summary(entry: "Entry") -> str:
    """One line for one event."""
    event = entry.event
    match event.kind:
        case "run_started":
            text = f"{event.task} by {event.agent}, sees {event.coverage} processes"
        case "action":
            arguments = ", ".join(f"{name}={value!r}" for name, value in event.arguments.items())
            decided = event.decision.outcome if event.decision else "not understood"
            text = f"{event.name}({arguments}) [{decided}]"
        case "observation":
            seen = event.observation
            text = f"{event.name}: {seen.error_code or seen.status} {seen.message or ''}".rstrip()
        case "approval_asked":
            text = f"{event.question.scope}: {event.question.command}"
        case "approval_decided":
            answer = "granted" if event.answer.approved else "denied"
            answer = answer if event.granted_at is None else f"granted at {event.granted_at}, used."
            text = f"{event.question.scope}: {answer} {event.answer.reason}"
        case "files_changed":
            text = ", ".join(event.paths)
        case "exec":
            rule = event.decision.rule if event.decision else None
            by = f" by {rule}" if rule and event.verdict == "denied" else ""
            how = "" if event.verdict == "allowed" else f" [{event.verdict}{by}]"
            text = f"{' '.join(event.argv) or event.program}{how}"
        case "execs_lost":
            why = "seen" if event.unseen else "recorded"
            text = f"{event.count} more execs were not {why}"
        case "network_connected":
            failed = f", but failed: {event.problem}" if event.problem else ""
            text = f"{event.scope} granted at {event.granted_at}, port {event.port}{failed}"
        case "registry_request":
            text = f"{event.method} {event.target}: {event.status}, {event.size} bytes"
        case "fault_injected":
            text = f"{event.fault}: {event.effect} of {event.target}, number {event.occurrence}"
        case "model_request":
            failed = f", {event.problem}" if event.problem else ""
            text = f"{event.method} {event.path}: {event.status}, {event.size} bytes{failed}"
        case "requests_lost":
            text = f"{event.count} more requests were not recorded"
        case "violation":
            text = event.message
        case "milestone":
            word = "reached" if event.reached else "undone"
            text = f"{event.milestone} {word}, progress {event.progress:.0%}"
        case "claim":
            text = f"{event.about}: {event.text}"
        case "final":
            text = str(event.fields)
        case "run_ended":
            text = f"{event.reason} after {event.turns} turns, {event.seconds:.1f} s"
    return f"{entry.sequence:>5}  {entry.elapsed:>8.3f} s  {event.kind:<17}  {line(text)}"


def trace(
    run: Annotated[str, typer.Argument(help="A run: `last` or the start of its name.")] = "last",
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the trace as it is stored, one JSON a line.")
    ] = False,
    runs: RunsOption = None,
) -> None:
    """Show a run's trace, and whether its hash chain is whole."""
    from sandbox.model.trace import read

    folder = open_store(runs).find(run)
    if as_json:
        typer.echo(Path(folder.trace).read_text(encoding="utf-8"), nl=False)
        return
    stored = read(folder.trace)
    for entry in stored.entries:
        typer.echo(summary(entry))
    if stored.problem:
        raise EvidenceError(
            f"The trace of {folder.id} is not whole: {stored.problem}",
            "What stands above is sound; do not trust what came after.",
        )
    typer.echo(f"{len(stored.entries)} events, hash chain whole")
