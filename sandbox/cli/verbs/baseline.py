"""`sandbox baseline`: measured runs under a name, to compare later ones with."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.options import ExperimentOption, JsonOption, RunsOption, open_store
from sandbox.cli.tables import table
from sandbox.cli.verbs.report import TasksOption, chosen
from sandbox.model.errors import StoreError

if TYPE_CHECKING:
    from sandbox.cli.output_records import Pinned
    from sandbox.model.baseline import Baseline
    from sandbox.model.store import Store


def about() -> None:
    """Runs that are kept under a name, so that later ones can be compared with them."""


def pin(
    name: Annotated[str, typer.Argument(help="A name that is not taken.")],
    *,
    experiment: ExperimentOption = None,
    task: TasksOption = None,
    agent: Annotated[
        list[str] | None, typer.Option(help="Only runs of this agent; may be repeated.")
    ] = None,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Keep what stored runs measure under a name; it stays when the runs are deleted."""
    from sandbox.grading import baselines, reports

    store = open_store(runs)
    measured = reports.read(chosen(store, [], task or [], agent or [], experiment))
    path = baselines.pin(store, name, measured)
    made = _pinned(name, baselines.find(store, name), path)
    if as_json:
        _write("baseline pin", made)
        return
    typer.echo(f"baseline {name}: {made.runs} runs of {made.agents} agents, in {path}")


def list_baselines(*, as_json: JsonOption = False, runs: RunsOption = None) -> None:
    """List the baselines."""
    from sandbox.grading import baselines

    store = open_store(runs)
    found = [_listed(store, name) for name in baselines.names(store)]
    if as_json:
        _write("baseline list", found)
        return
    if not found:
        typer.echo(f"no baselines in {store.root}")
        return
    rows = [
        [each.name, "cannot be read", "-", "-"]
        if each.problem
        else [
            each.name,
            each.pinned[:16].replace("T", " "),
            str(each.runs),
            each.sandbox_version,
        ]
        for each in found
    ]
    for text in table(["baseline", "pinned (UTC)", "runs", "sandbox"], rows, left=2):
        typer.echo(text)


def _listed(store: "Store", name: str) -> "Pinned":
    from sandbox.cli.output_records import Pinned
    from sandbox.grading import baselines

    path = baselines.file_of(store, name)
    try:
        return _pinned(name, baselines.find(store, name), path)
    except StoreError as error:
        return Pinned(name=name, path=str(path), problem=error.message)


def _pinned(name: str, baseline: "Baseline", path: Path) -> "Pinned":
    from sandbox.cli.output_records import Pinned

    return Pinned(
        name=name,
        path=str(path),
        runs=len(baseline.runs),
        agents=len({run.agent for run in baseline.runs}),
        pinned=baseline.pinned,
        sandbox_version=baseline.sandbox_version,
    )


def _write(verb: str, value: object) -> None:
    from sandbox.cli import outputs

    outputs.write(verb, value)
