"""All tasks of the project together: their images, what each costs on the disk, their oracles.

`cold` builds every image anew, from artifacts that are fetched anew, under tags of its own, and
removes just those: no image that was there is touched. What pip, npm and apt cache themselves stays
theirs.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from sandbox.container import engines
from sandbox.container.engines.base import Engine
from sandbox.model import places
from sandbox.tasks import library
from sandbox.tasks.images import Images, package_clients, task_image
from sandbox.tasks.images import recipe as recipes
from sandbox.tasks.images.recipe import Recipe
from sandbox.tasks.sources import Sources
from tests.bench.clock import Measure, milliseconds

SANDBOX = str(Path(sys.executable).with_name("sandbox"))
AT_ONCE = 4
WARM_MS, ALONE_MS, AT_ONCE_MS, COLD_MS = 15_000, 60_000, 25_000, 600_000


def measure() -> list[Measure]:
    names = library.names()
    sandbox("build")  # what was not there yet is not part of the figures
    warm = milliseconds(lambda: sandbox("build"))
    alone = milliseconds(lambda: oracles(names, 1))
    at_once = milliseconds(lambda: oracles(names, AT_ONCE))
    count = f"{len(names)} oracles"
    return [
        (f"`sandbox build`, {len(names)} images ready", "the bound, ms", warm, WARM_MS, 1, False),
        (f"{count}, one after the other", "the bound, ms", alone, ALONE_MS, 1, False),
        (f"{count}, {AT_ONCE} at once", "the bound, ms", at_once, AT_ONCE_MS, 1, False),
        *sizes(names),
    ]


def cold() -> list[Measure]:
    """The builds from nothing, which take minutes."""
    names = library.names()
    engine = engines.connect()
    try:
        with tempfile.TemporaryDirectory() as cache, other_images(engine, names):
            images = Images(engine, Path(cache))

            def build() -> None:
                for name in names:
                    images.ensure(library.load(name), lambda _: None)

            taken = milliseconds(build)
    finally:
        engine.close()
    return [(f"{len(names)} images from clean caches", "the bound, ms", taken, COLD_MS, 1, False)]


def sandbox(*arguments: str) -> None:
    ended = subprocess.run([SANDBOX, *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"


def oracles(names: list[str], jobs: int) -> None:
    with tempfile.TemporaryDirectory() as runs:
        sandbox("run", *names, "--agent", "oracle", "--jobs", str(jobs), "--runs", runs)


def sizes(names: list[str]) -> Iterator[Measure]:
    """What each task adds to the layers that it shares with other tasks of its repository."""
    engine = engines.connect()
    try:
        for name in names:
            own = recipe(name)
            assert own.parent is not None, "a task's image stands on its environment's"
            whole, shared = (megabytes(engine, each) for each in (own, own.parent))
            what = f"{name}: MB of its own, {whole:.0f} in all"
            yield (what, "shared, MB", whole - shared, shared, 1, False)
    finally:
        engine.close()


def megabytes(engine: Engine, wanted: Recipe) -> float:
    image = engine.image(wanted.tag)
    assert image is not None, f"{wanted.tag} was built"
    return image.size / 1e6


def recipe(name: str) -> Recipe:
    return task_image.recipe(library.load(name), Sources(places.cache(), package_clients.provide))


@contextmanager
def other_images(engine: Engine, names: list[str]) -> Iterator[None]:
    """Give all images other inputs, hence other names, and the engine nothing to take over.

    Even the lowest differs in its labels, so that no layer above it is in the engine's cache.
    """
    with patch.object(recipes, "_VERSION", f"bench-{os.getpid()}-{os.urandom(4).hex()}"):
        chains = [chain(recipe(name)) for name in names]
        try:
            yield
        finally:
            ours = {each.tag: depth for one in chains for depth, each in enumerate(one)}
            for tag in sorted(ours, key=ours.__getitem__):  # those that others stand on last
                if engine.image(tag):
                    engine.remove_image(tag)


def chain(top: Recipe) -> list[Recipe]:
    """An image and those below it."""
    return [top, *(chain(top.parent) if top.parent else [])]
