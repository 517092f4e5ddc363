"""Whether a task's image holds what only grading may see."""

from sandbox.container.engines.base import Engine
from sandbox.model import places
from sandbox.run.validate.checks import Check, Row, row_status
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.images.image_secrets import secrets
from sandbox.tasks.images.leaks import leaks
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.sources import Sources

MOST = 20
"""Leaks that are told; one file that is copied gives one for each of its lines."""


def row(loaded: LoadedTask, image: BuiltImage, engine: Engine) -> Row:
    """Look through all layers and all git objects of an image.

    Raises as `Sources.fetch` and `Engine.save` do.
    """
    secret = secrets(loaded, Sources(places.cache()), lambda _: None)
    lines = len(secret.lines) + len(secret.test_lines)
    found = leaks(engine, image.tag, secret)
    more = (f"and {len(found) - MOST} more",) if len(found) > MOST else ()
    return Row(
        task=loaded.task.id,
        check=Check.LEAKS,
        what="the image",
        expected="no layer and no git object holds a file or line of them",
        result=f"{len(secret.files)} files and {lines} lines looked for",
        status=row_status(found),
        notes=(*found[:MOST], *more),
    )
