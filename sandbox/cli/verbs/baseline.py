"""`sandbox baseline`: measured runs under a name, to compare later ones with."""

from typing import Annotated

import typer

from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.tables import table
from sandbox.cli.verbs.report import TasksOption, chosen
from sandbox.model.errors import StoreError


def about() -> None:
    """Runs that are kept under a name, so that later ones can be compared with them."""


def pin(
    name: Annotated[str, typer.Argument(help="A name that is not taken.")],
    *,
    experiment: Annotated[str | None, typer.Option(help="Only runs of this experiment.")] = None,
    task: TasksOption = None,
    agent: Annotated[
        list[str] | None, typer.Option(help="Only runs of this agent; may be repeated.")
    ] = None,
    runs: RunsOption = None,
) -> None:
    """Keep what stored runs measure under a name; it stays when the runs are deleted."""
    from sandbox.grading import baselines, reports

    store = open_store(runs)
    measured = reports.read(chosen(store, [], task or [], agent or [], experiment))
    path = baselines.pin(store, name, measured)
    count = sum(run.verdict is not None for run in measured)
    agents = len({run.agent for run in measured})
    typer.echo(f"baseline {name}: {count} runs of {agents} agents, in {path}")


def list_baselines(*, runs: RunsOption = None) -> None:
    """List the baselines."""
    from sandbox.grading import baselines

    store = open_store(runs)
    names = baselines.names(store)
    if not names:
        typer.echo(f"no baselines in {store.root}")
        return
    rows = []
    for name in names:
        try:
            each = baselines.find(store, name)
        except StoreError:
            rows.append([name, "cannot be read", "-", "-"])
            continue
        moment = each.pinned[:16].replace("T", " ")
        rows.append([name, moment, str(len(each.runs)), each.sandbox_version])
    for text in table(["baseline", "pinned (UTC)", "runs", "sandbox"], rows, left=2):
        typer.echo(text)
