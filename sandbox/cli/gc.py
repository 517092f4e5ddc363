"""`sandbox gc`: remove what crashes and changed tasks left behind."""

import json
import time
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.terminal import size

if TYPE_CHECKING:
    from sandbox.engines.base import ContainerInfo

STARTING = 60.0
"""Seconds in which a container that was never started may still be about to."""


def abandoned(container: "ContainerInfo", *, kept_too: bool, now: float) -> bool:
    """Whether no run uses a container: a supervisor ends as soon as its harness does."""
    from sandbox.trial import KEPT, STARTED

    age = now - float(container.labels.get(STARTED, 0))
    if container.running or (not container.begun and age < STARTING):
        return False
    return kept_too or KEPT not in container.labels


def gc(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="Only containers of this run; starts of ids do.")
    ] = "",
    *,
    images: Annotated[
        bool, typer.Option("--images", help="Also remove task images that no task needs any more.")
    ] = False,
    kept: Annotated[
        bool, typer.Option("--kept", help="Also remove containers that `run --keep` kept.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Remove containers that no run uses any more, and stale images."""
    from sandbox import engines
    from sandbox.engines.base import MANAGED
    from sandbox.images import stale
    from sandbox.trial import RUN

    removed: dict[str, list[str]] = {"containers": [], "images": []}
    freed = 0
    engine = engines.connect()
    try:
        for container in engine.containers(MANAGED):
            chosen = container.labels.get(RUN, "").startswith(run)
            if chosen and abandoned(container, kept_too=kept, now=time.time()):
                engine.remove_container(container.id)
                removed["containers"].append(container.id)
        for image in stale(engine) if images else ():
            engine.remove_image(image.id)
            removed["images"].append(image.id)
            freed += image.size
    finally:
        engine.close()
    if as_json:
        typer.echo(json.dumps(removed, indent=1))
        return
    typer.echo(f"{len(removed['containers'])} containers removed")
    if images:
        typer.echo(f"{len(removed['images'])} images removed, {size(freed)} with shared layers")
