"""Where a foreign task is made: apart, so that one that does not hold leaves nothing behind."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox.container.engines.base import Engine
from sandbox.model.errors import (
    DocumentError,
    EvidenceError,
    ImageError,
    RepositoryError,
    SourceError,
    UsageError,
)
from sandbox.model.imported import Imported
from sandbox.model.scratch import Scratch
from sandbox.model.store import Store
from sandbox.run.imports import listed_tests
from sandbox.tasks.images import BuiltImage, Images
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.sources import Sources

OF_ITSELF = (DocumentError, EvidenceError, ImageError, RepositoryError, SourceError, UsageError)
"""What goes wrong with one task and tells nothing of the next."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of trying a task."""

    problems: tuple[str, ...] = ()
    """Why it does not hold here; empty where it does."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Workshop:
    """What all tasks of an import share."""

    tasks: Path
    """Where tasks go."""
    sources: Sources
    images: Images
    engine: Engine
    store: Store
    tell: Callable[[str], None]

    def make(self, about: Imported, work: Callable[[Path], Tried]) -> Imported:
        """Have a task written and tried in a folder of its own, and keep what holds.

        `about` names it; `work` writes its repository below the folder that it is given. What is
        wrong with it is in what comes back; EngineError and StoreError are raised, since they are
        not its own.
        """
        name = about.task.partition("/")[0]
        if (self.tasks / name).exists():
            return about.model_copy(update={"outcome": "there already"})
        with Scratch("import") as folder, _told(about) as told:
            tried = work(folder)
            told.update(problems=tried.problems, notes=tried.notes)
            if not tried.problems:
                _keep(folder / name, self.tasks / name)
                told["outcome"] = "imported"
        return about.model_copy(update=told)

    def judged(self, task: LoadedTask, image: BuiltImage) -> tuple[str, ...]:
        """Run the oracle, which has to pass, and `null`, which must not; what is wrong."""
        self.tell("running its oracle and an agent that does nothing")
        ends = listed_tests.judged(task, image, self.engine, self.store)
        return tuple(f"{agent}: {said}" for agent, said in ends)


@contextmanager
def _told(about: Imported) -> Iterator[dict[str, object]]:
    """Take what goes wrong with a task as what is told of it."""
    told: dict[str, object] = {"outcome": "refused", "problems": about.problems}
    try:
        yield told
    except OF_ITSELF as error:
        said = " ".join(filter(None, (error.message, error.next_step)))
        told.update(outcome="refused", problems=(said,))


def _keep(made: Path, target: Path) -> None:
    """Move a repository to where tasks are, whole or not at all."""
    part = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(made, part)
        part.rename(target)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise UsageError(
            f"{target} cannot be made: {error.strerror}.", "Nothing of it was left there."
        ) from error
