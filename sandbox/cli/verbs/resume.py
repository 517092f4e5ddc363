"""`sandbox resume`: what is left of an experiment."""

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.order import RETRIES, Amount, OnOption, ordered
from sandbox.cli.terminal import complain
from sandbox.model.errors import SandboxError, UsageError

if TYPE_CHECKING:
    from sandbox.model.store import Store
    from sandbox.run.experiment import Experiment

PAUSE = 2.0
"""Seconds between two looks for an experiment."""

OUTAGE_PAUSE = 30.0
"""Seconds until a worker tries again what the machinery did not let it do."""


def resume(
    name: Annotated[
        str | None,
        typer.Argument(
            help="An experiment; the newest that is not over, otherwise.",
            autocompletion=completion.experiments,
        ),
    ] = None,
    *,
    jobs: Annotated[int, typer.Option(min=1, help="How many runs go on at once.")] = 1,
    retries: Annotated[
        int, typer.Option(min=0, max=10, help="How often what errors have ended is run again.")
    ] = RETRIES,
    wait: Annotated[
        bool, typer.Option("--wait", help="Stay, and go on with whatever is planned, as a worker.")
    ] = False,
    on: OnOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    runs: RunsOption = None,
) -> None:
    """Go on with an experiment where it stopped, as the command that began it does, too.

    Any number of these share what is left, on all machines that share the folder of runs. Runs
    that errors have ended are run again; failures never. Exit codes as of `sandbox run`.
    """
    store = open_store(runs)
    store.root = store.root.absolute()
    how = Amount(jobs=jobs, retries=retries, on=on)
    if not wait:
        raise typer.Exit(_go_on(_found(store, name), store, how, as_json=as_json))
    if as_json:
        raise UsageError("A worker has no results to print at its end.", "Leave --json out.")
    done_with: set[str] = set()
    while True:
        found = _waiting(store, name, done_with)
        if found is None:
            time.sleep(PAUSE)
            continue
        try:
            _go_on(found, store, how, as_json=False)
        except UsageError as error:
            complain(error)
            done_with.add(found.name)
        except SandboxError as error:  # an engine that is away may come back
            complain(error)
            time.sleep(OUTAGE_PAUSE)
        else:
            if found.left():  # which ended in errors, as often as is tried
                done_with.add(found.name)


def _go_on(found: "Experiment", store: "Store", how: Amount, *, as_json: bool) -> int:
    from sandbox.cli import batch_progress

    if not Path(found.plan.folder).is_dir():
        raise UsageError(
            f"The experiment {found.name} was planned in {found.plan.folder}, which is not here.",
            "Its agents are started in that folder: make it, or plan the experiment anew.",
        )
    with contextlib.chdir(found.plan.folder):
        return batch_progress.run(ordered(found, how), store, as_json=as_json)


def _waiting(store: "Store", name: str | None, done_with: set[str]) -> "Experiment | None":
    """Give the newest experiment that has something left to do, of that name where one is given."""
    from sandbox.run import experiment

    for each in experiment.named(store):
        if each.name in (name or each.name,) and each.name not in done_with and each.left():
            return each
    return None


def _found(store: "Store", name: str | None) -> "Experiment":
    from sandbox.run import experiment

    known = experiment.named(store)
    for each in known:
        if each.name == name or (name is None and each.left()):
            return each
    names = ", ".join(each.name for each in known[:5])
    raise UsageError(
        f"There is no experiment {name}." if name else "No experiment has anything left to do.",
        f"The newest are: {names}." if names else "`sandbox run all --agent CMD` begins one.",
    )
