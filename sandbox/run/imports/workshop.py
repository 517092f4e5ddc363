"""Where a foreign task is made: apart, so that one that does not hold leaves nothing behind."""

import errno
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
from sandbox.run.imports.listed_tests import Judged
from sandbox.tasks.images import BuiltImage, Images
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.sources import Sources

OF_ITSELF = (DocumentError, EvidenceError, ImageError, RepositoryError, SourceError, UsageError)
"""What goes wrong with one task and tells nothing of the next."""
ODD = (OSError, ValueError, RecursionError, OverflowError)
"""What data that nobody foresaw comes to."""
FULL = (errno.ENOSPC, errno.EDQUOT)
"""What is no fault of the data's."""
LINES, MOST = 6, 500
"""Lines of what is told of one, and characters of a line."""
SOURCE = "imported.txt"
"""Beside the repo file: what it was made of."""


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

    def make(
        self,
        about: Imported,
        source: str,
        work: Callable[[Path], Tried],
        *,
        within: bool = False,
    ) -> Imported:
        """Have a task written and tried in a folder of its own, and keep what holds.

        `about` names it, `source` tells what it is made of from all else; `work` writes its
        repository below the folder that it is given. What is kept is the repository, or the task
        alone, `within` one that is there. What is wrong with it is in what comes back; EngineError
        and StoreError are raised, since they are not its own.
        """
        name = about.task if within else about.task.partition("/")[0]
        with own_faults(about) as told:
            if (self.tasks / name).exists():
                told["outcome"] = _known(self.tasks / name, source)
                return about.model_copy(update=told)
            with Scratch("import") as folder:
                tried = work(folder)
                told.update(problems=tried.problems, notes=tried.notes)
                if not tried.problems:
                    (folder / name / SOURCE).write_text(f"{source}\n")
                    _keep(folder / name, self.tasks / name)
                    told["outcome"] = "imported"
        return about.model_copy(update=told)

    def judged(self, task: LoadedTask, image: BuiltImage) -> Judged:
        """Run the oracle, which has to pass, and `null`, which must not."""
        self.tell("running its oracle and an agent that does nothing")
        return listed_tests.judged(task, image, self.engine, self.store)


@contextmanager
def own_faults(about: Imported) -> Iterator[dict[str, object]]:
    """Take what goes wrong with a task as what is told of it."""
    told: dict[str, object] = {"outcome": "refused", "problems": about.problems}
    try:
        yield told
    except OF_ITSELF as error:
        said = [*_short(error.message), *filter(None, [error.next_step])]
        told.update(outcome="refused", problems=(" ".join(said),))
    except ODD as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise
        said = [f"It cannot be read: {type(error).__name__}: {error}"[:MOST]]
        told.update(outcome="refused", problems=(" ".join(said),))


def _short(message: str) -> list[str]:
    """Give the first line of a message, and its last ones where there are many."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    lines = [line if len(line) <= MOST else f"{line[:MOST]}..." for line in lines]
    return lines if len(lines) <= LINES else [lines[0], "...", *lines[1 - LINES :]]


def _known(folder: Path, source: str) -> str:
    """Say that a task is there already; UsageError where it was made of something else."""
    try:
        made_of = (folder / SOURCE).read_text().strip()
    except OSError:
        made_of = ""
    if made_of != source:
        raise UsageError(
            f"{folder} is there already and was made of something else.",
            "Remove it, or give folders another --prefix.",
        )
    return "there already"


def _keep(made: Path, target: Path) -> None:
    """Move a repository to where tasks are, whole or not at all."""
    part = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(made, part)
        part.rename(target)
    except BaseException as error:
        shutil.rmtree(part, ignore_errors=True)
        if not isinstance(error, OSError):
            raise
        raise UsageError(
            f"{target} cannot be made: {error.strerror}.", "Nothing of it was left there."
        ) from error
