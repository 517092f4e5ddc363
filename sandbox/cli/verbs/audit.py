"""`sandbox audit`: whether a suite is too easy."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.terminal import Progress, coloured, line
from sandbox.model.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.model.audit import Sign
    from sandbox.model.run_folder import RunFolder
    from sandbox.model.store import Store
    from sandbox.run.audit import Audit
    from sandbox.tasks.library import LoadedTask

WORDS = {"clear": "ok ", "warning": "bad", "unknown": "-- "}


def audit(
    tasks: Annotated[
        list[str] | None, typer.Argument(help="Tasks; all of the project where none is named.")
    ] = None,
    *,
    agent: Annotated[
        list[str] | None,
        typer.Option(help="Stored runs of this agent; of all but `oracle` and `null` otherwise."),
    ] = None,
    blind: Annotated[
        bool, typer.Option(help="Run each oracle as one that sees no reply; needs the engine.")
    ] = True,
    jobs: Annotated[int, typer.Option(min=1, help="How many runs go on at once.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    runs: RunsOption = None,
) -> None:
    """Look for the seven signs of an evaluation that is too easy.

    Three are in stored runs, four in the tasks; docs/audit.md defines each. Exit codes: 0 no sign
    warns, 1 one does, 2 usage, 3 infrastructure.
    """
    from sandbox.run.audit import Audit
    from sandbox.run.audit.audit import not_run
    from sandbox.tasks import library

    loaded = [library.load(name) for name in dict.fromkeys(tasks or library.names())]
    store = open_store(runs)
    found = Audit(loaded, _stored(store, loaded, agent or []))
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


def _stored(store: "Store", tasks: "Sequence[LoadedTask]", agents: list[str]) -> "list[RunFolder]":
    from sandbox.run.audit.audit import OWN

    names = {task.task.id for task in tasks}
    found = []
    for folder in store.folders():
        with suppress(StoreError):  # one that cannot be read says nothing of an agent
            record = folder.record()
            mine = record.agent in agents if agents else record.agent not in OWN
            if record.task in names and mine:
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
