"""Images, each built once: looked up by the digest of its inputs, built where it is missing."""

import contextlib
import fcntl
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox.container.engines.base import Engine, ImageInfo
from sandbox.model.errors import ImageError
from sandbox.tasks import library
from sandbox.tasks.images import package_clients, task_image
from sandbox.tasks.images.recipe import INPUTS, OnLine, Recipe, Work
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.sources import Sources


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """An image that stands ready."""

    tag: str
    id: str
    size: int
    """Bytes, shared layers included."""
    seconds: float
    """What it took to have it."""
    rebuilt: bool


class Images:
    """The images of one engine. Several processes may ask for the same one at once."""

    def __init__(self, engine: Engine, cache: Path) -> None:
        self._engine = engine
        self._folder = cache / "images"
        self._logs = cache / "logs"
        self._sources = Sources(cache, package_clients.provide)

    def tag(self, task: LoadedTask) -> str:
        """What the task's image is called, whether it is there or not."""
        return self._recipe(task).tag

    def ensure(self, task: LoadedTask, on_line: OnLine) -> BuiltImage:
        """Return the task's image, built if need be.

        `on_line` is told what goes on. ImageError, SourceError, RepositoryError, EngineError;
        what was finished before the failure is kept and not built again.
        """
        start = time.monotonic()
        registry = task.task.world.registry
        if registry:  # so that a run needs no network
            self._sources.fetch_all(registry.artifacts, on_line)
        return self.made(self._recipe(task), on_line, start)

    def made(self, recipe: Recipe, on_line: OnLine, start: float | None = None) -> BuiltImage:
        """Return the image of a recipe, built if need be; raises as `ensure` does."""
        start = time.monotonic() if start is None else start
        found = self._engine.image(recipe.tag)
        image, rebuilt = (found, False) if found else self._build(recipe, on_line)
        seconds = time.monotonic() - start
        return BuiltImage(recipe.tag, image.id, image.size, seconds, rebuilt)

    def _recipe(self, task: LoadedTask) -> Recipe:
        return task_image.recipe(task, self._sources)

    def _build(self, recipe: Recipe, on_line: OnLine) -> tuple[ImageInfo, bool]:
        """Return the image, and whether it was this process that built it."""
        if recipe.parent and self._engine.image(recipe.parent.tag) is None:
            self._build(recipe.parent, on_line)
        with self._alone(recipe, on_line) as folder:
            if found := self._engine.image(recipe.tag):  # another process was quicker
                return found, False
            parent = recipe.parent.tag if recipe.parent else ""
            on_line(f"building {recipe.tag}")
            with self._log(recipe, on_line) as report, _writable(folder):
                return recipe.make(recipe, Work(self._engine, folder, parent, report)), True

    @contextmanager
    def _alone(self, recipe: Recipe, on_line: OnLine) -> Iterator[Path]:
        """Hold the image's lock, which the kernel releases when its process ends."""
        name = recipe.tag.replace("/", "-").replace(":", "-")
        folder = self._folder / name
        with _writable(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = (self._folder / f"{name}.lock").open("w")
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                on_line(f"waiting for another process that builds {recipe.tag}")
                fcntl.flock(lock, fcntl.LOCK_EX)
            shutil.rmtree(folder, ignore_errors=True)
            self._sweep()
            try:
                with _writable(self._folder):
                    folder.mkdir()
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def _sweep(self) -> None:
        """Remove what builds that were killed have left: folders whose lock nobody else holds."""
        for path in self._folder.glob("*.lock"):
            with path.open("w") as lock, contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path.with_suffix(""), ignore_errors=True)

    @contextmanager
    def _log(self, recipe: Recipe, on_line: OnLine) -> Iterator[OnLine]:
        """Keep every line of a build in a file, which is named where the build fails."""
        with _writable(self._logs):
            self._logs.mkdir(parents=True, exist_ok=True)
            path = self._logs / f"image-{recipe.name}.log"
            file = path.open("w", encoding="utf-8", errors="backslashreplace")
        with file:

            def report(line: str) -> None:
                file.write(f"{line}\n")
                file.flush()
                on_line(line)

            try:
                yield report
            except ImageError as error:
                with contextlib.suppress(OSError):
                    file.write(f"{error}\n")
                raise ImageError(
                    f"{error.message}\nThe whole log: {path}",
                    error.next_step
                    or "Mend what it says, then build again; nothing half-built is used.",
                ) from error


def stale(engine: Engine) -> list[ImageInfo]:
    """Return our images that no task needs any more, those that others stand on last."""
    needed = set[str]()
    sources = Sources(Path())  # only names are asked for, nothing is fetched
    from sandbox.tasks.suites import suite  # loads the operators, which one image does not need

    for name in {*library.names(), *suite.own_tasks()}:
        recipe: Recipe | None = task_image.recipe(library.load(name), sources)
        while recipe:
            needed.add(recipe.tag)
            recipe = recipe.parent
    found = [image for image in engine.images(INPUTS) if not needed.intersection(image.tags)]
    return sorted(found, key=lambda image: image.size, reverse=True)


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ImageError(
            f"{folder} cannot be written: {error.strerror or error}; nothing was built.",
            "Check its permissions and the free space, or choose another with SANDBOX_CACHE.",
        ) from error
