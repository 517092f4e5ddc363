"""`sandbox gc`: remove what crashes and changed tasks left behind."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.options import JsonOption, RunsOption, open_store
from sandbox.cli.terminal import mutter, size

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from sandbox.container.engines.base import ContainerInfo, Engine
    from sandbox.model.run_folder import RunFolder
    from sandbox.model.store import Store

STARTING = 60.0
"""Seconds in which a container that was never started may still be about to."""

LATE, LOOK = 5.0, 0.5
"""Seconds in which an engine may still make what a harness had asked for that was then killed, and
between two looks at it."""


def abandoned(
    container: "ContainerInfo", *, kept_too: bool, now: float, over: "Collection[str]" = ()
) -> bool:
    """Whether no run uses a container: a supervisor ends as soon as its harness does.

    What belongs to the runs that are `over` is used by nobody, be it that the engine is only now
    starting what a harness that was killed had asked for.
    """
    from sandbox.container.engines.base import CREATED
    from sandbox.run.run_containers import KEPT, RUN

    age = now - float(container.labels.get(CREATED, 0))
    about_to_start = not container.begun and age < STARTING
    used = container.running or about_to_start
    if used and container.labels.get(RUN) not in over:
        return False
    return kept_too or KEPT not in container.labels


def gc(
    run: Annotated[
        str,
        typer.Argument(
            metavar="[RUN]", help="Only containers of this run: `last`, or how its id begins."
        ),
    ] = "",
    *,
    images: Annotated[
        bool, typer.Option("--images", help="Also remove task images that no task needs any more.")
    ] = False,
    kept: Annotated[
        bool, typer.Option("--kept", help="Also remove containers that `run --keep` kept.")
    ] = False,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Remove containers that no run uses any more, and left-over temporary folders.

    Runs and open sessions whose process is gone get their end noted: the verdict `error`.
    """
    from sandbox.cli.open_sessions import bury
    from sandbox.container import engines
    from sandbox.model import scratch
    from sandbox.run import dead_runs
    from sandbox.tasks.images import stale

    removed: dict[str, list[str]] = {
        "containers": [],
        "images": [],
        "sessions": [],
        "runs": [],
        "folders": [],
    }
    freed = 0
    if run == "last":
        run = open_store(runs).find(run).id
    engine = engines.connect()
    try:
        for folder in _orphans(open_store(runs), run):
            removed["containers"] += bury(folder, engine)
            removed["sessions"].append(folder.id)
        chosen = [each for each in open_store(runs).all_folders() if each.id.startswith(run)]
        removed["runs"] = dead_runs.bury(chosen)
        if not run:
            dead_runs.sweep(open_store(runs))
        over = {each.id for each in chosen if not each.is_live}
        removed["folders"] = [str(folder) for folder in scratch.sweep()]
        late = LATE if removed["runs"] else 0
        removed["containers"] += _swept(engine, run, kept=kept, over=over, seconds=late)
        for image in stale(engine) if images else ():
            engine.remove_image(image.id)
            removed["images"].append(image.id)
            freed += image.size
        if run and not chosen and not removed["containers"]:
            _tell_unknown(engine, run)
    finally:
        engine.close()
    if as_json:
        from sandbox.cli import outputs
        from sandbox.cli.output_records import Removed

        outputs.write("gc", Removed(**{what: tuple(names) for what, names in removed.items()}))
        return
    for row in _rows(removed):
        typer.echo(row)
    if images:
        typer.echo(f"{_removed(removed['images'], 'image')}, {size(freed)} with shared layers")


def _swept(
    engine: "Engine", run: str, *, kept: bool, over: "Collection[str]", seconds: float
) -> "Iterator[str]":
    """Remove the containers that no run uses, and those that come for a while; yield their ids."""
    from sandbox.container.engines.base import MANAGED
    from sandbox.run.run_containers import RUN

    until = time.monotonic() + seconds
    while True:
        for container in engine.containers(MANAGED):
            is_asked = container.labels.get(RUN, "").startswith(run)
            if is_asked and abandoned(container, kept_too=kept, now=time.time(), over=over):
                engine.remove_container(container.id)
                yield container.id
        if time.monotonic() >= until:
            return
        time.sleep(LOOK)


def _tell_unknown(engine: "Engine", run: str) -> None:
    """Say so where there is no such run, and no container of one."""
    from sandbox.container.engines.base import MANAGED
    from sandbox.run.run_containers import RUN

    if not any(each.labels.get(RUN, "").startswith(run) for each in engine.containers(MANAGED)):
        mutter(f"No run begins with {run!r}, and no container belongs to one.\n")


def _rows(removed: "Mapping[str, Sequence[str]]") -> "Iterator[str]":
    """Say what was removed and noted."""
    yield _removed(removed["containers"], "container")
    if removed["folders"]:
        yield _removed(removed["folders"], "temporary folder")
    for session in removed["sessions"]:
        yield f"session {session}: its process is gone; noted as an error"
    for dead in removed["runs"]:
        yield f"run {dead}: its process was killed; noted as an error"


def _removed(names: "Sequence[str]", what: str) -> str:
    return f"{len(names)} {what}{'' if len(names) == 1 else 's'} removed"


def _orphans(store: "Store", run: str) -> "list[RunFolder]":
    """Give the open sessions whose process is gone."""
    from sandbox.cli.open_sessions import is_orphan

    return [folder for folder in store.called() if folder.id.startswith(run) and is_orphan(folder)]
