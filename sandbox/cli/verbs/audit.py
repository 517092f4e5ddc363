"""`sandbox audit`: whether a suite is too easy."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.options import JsonOption, RunsOption, open_store
from sandbox.cli.terminal import Progress, coloured, line
from sandbox.model.errors import StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sandbox.model.audit import Sign
    from sandbox.model.run_folder import RunFolder
    from sandbox.model.store import Store
    from sandbox.run.audit import Audit
    from sandbox.tasks.library import LoadedTask

WORDS = {"clear": "ok ", "warning": "bad", "unknown": "-- "}


def audit(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(
            help="Tasks; all of the project where none is named.", autocompletion=completion.tasks
        ),
    ] = None,
    *,
    experiment: Annotated[
        str | None, typer.Option(help="The tasks and the runs of an experiment alone.")
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(help="Stored runs of this agent; of all but `oracle` and `null` otherwise."),
    ] = None,
    blind: Annotated[
        bool, typer.Option(help="Run each oracle as one that sees no reply; needs the engine.")
    ] = True,
    jobs: Annotated[int, typer.Option(min=1, help="How many runs go on at once.")] = 2,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Look for the nine signs of an evaluation that is too easy.

    Five are in stored runs, four in the tasks; docs/audit.md defines each. Exit codes: 0 no sign
    warns, 1 one does, 2 usage, 3 infrastructure.
    """
    from sandbox.run.audit import Audit
    from sandbox.run.audit.audit import not_run
    from sandbox.tasks import library

    store = open_store(runs)
    known: Iterable[RunFolder] = store.folders()
    if experiment is not None:
        if tasks:
            raise UsageError("An experiment names its tasks itself.", "Leave them out.")
        tasks, known = _part(store, experiment)
    loaded = [library.load(name) for name in dict.fromkeys(tasks or library.names())]
    found = Audit(loaded, _of(known, loaded, agent or []), agent or ())
    signs = found.signs(_blind(found, loaded, store.checks, jobs) if blind else not_run())
    if as_json:
        from sandbox.cli import outputs

        outputs.write("audit", [*signs])
    else:
        for text in table(signs):
            typer.echo(text)
    raise typer.Exit(any(sign.status == "warning" for sign in signs))


def table(signs: "Sequence[Sign]") -> list[str]:
    """Two lines for each sign, and what they rest on."""
    rows = []
    for number, sign in enumerate(signs, 1):
        rows.append(f"{coloured(WORDS[sign.status])} {number}  {sign.question}")
        rows.append(f"        {line(sign.value)}")
        rows += [f"        - {line(detail)}" for detail in sign.details]
    return rows


def _part(store: "Store", name: str) -> "tuple[list[str], list[RunFolder]]":
    """Return the tasks and the runs of an experiment."""
    from sandbox.run import experiment

    found = experiment.called(store, name)
    runs = [store.folder(run) for run in found.runs().values()]
    return [cell.task for cell in found.plan.cells], runs


def _of(
    folders: "Iterable[RunFolder]", tasks: "Sequence[LoadedTask]", agents: list[str]
) -> "list[RunFolder]":
    """Return the runs of these tasks, of some agents and of the oracle, that can be read."""
    from sandbox.run.audit.audit import ORACLE

    names = {task.task.id for task in tasks}
    found = []
    for folder in folders:
        with suppress(StoreError):  # one that cannot be read says nothing of an agent
            record = folder.record()
            if record.task in names and (not agents or record.agent in (*agents, ORACLE)):
                found.append(folder)
    return found


def _blind(audit: "Audit", tasks: "Sequence[LoadedTask]", store: "Store", jobs: int) -> "Sign":
    from sandbox.container import engines
    from sandbox.model import places
    from sandbox.tasks.images import Images

    progress = Progress()
    engine = engines.connect()
    try:
        images = Images(engine, places.cache())
        built = [images.ensure(task, progress.doing) for task in tasks]
        return audit.run_blind(built, engine, store, jobs, progress.doing)
    finally:
        progress.close()
        engine.close()
