"""`sandbox resume`: what is left of an experiment."""

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.order import RETRIES, ordered
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.model.store import Store
    from sandbox.run.experiment import Experiment


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
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    runs: RunsOption = None,
) -> None:
    """Go on with an experiment where it stopped, as the command that began it does, too.

    Runs that errors have ended are run again; failures never. Exit codes as of `sandbox run`.
    """
    from sandbox.cli import batch_progress

    store = open_store(runs)
    store.root = store.root.absolute()
    found = _found(store, name)
    with contextlib.chdir(found.plan.folder):
        order = ordered(found, jobs, retries)
        raise typer.Exit(batch_progress.run(order, store, as_json=as_json))


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
