"""Foreign folders made into tasks, and kept where they hold: built, read, written, judged."""

import io
import tarfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.container.engines.base import Limits, Session, SessionSpec
from sandbox.model.container import Container, Network
from sandbox.model.errors import (
    EngineError,
    ImageError,
    UsageError,
)
from sandbox.model.imported import Imported
from sandbox.model.listing import some
from sandbox.model.scratch import Scratch
from sandbox.model.session import ROOT, Command
from sandbox.run.imports.listed_tests import Judged
from sandbox.run.imports.workshop import Tried, Workshop, own_faults
from sandbox.run.run_containers import RUN
from sandbox.tasks import library
from sandbox.tasks.images import foreign as recipes
from sandbox.tasks.imports import container_task, foreign_folders
from sandbox.tasks.imports.foreign_task import Foreign, Kind
from sandbox.tasks.library import LoadedTask

SHOWN = 3
"""Names that a note holds."""
MOST_BYTES = 128 << 20
"""Of a working directory."""


@dataclass(frozen=True, slots=True)
class FolderImporter:
    """Makes tasks of folders."""

    workshop: Workshop
    kind: Kind
    prefix: str
    """Of their names."""
    network: Network = "bridge"
    """What the lines of their Dockerfiles may reach."""
    patience: float = 3600
    """Seconds that a solution, or tests, may take while a task is tried."""

    def take(self, folder: Path) -> Imported:
        """Make a task of one; raises as `Workshop.make` does."""
        about = Imported(instance=folder.name, task="", outcome="refused")
        with own_faults(about) as told:
            foreign = foreign_folders.read(self.kind, folder)
            foreign = replace(foreign, name=f"{self.prefix}{foreign.name}")
            name = container_task.named(foreign)
            about = about.model_copy(update={"task": f"{name}/{container_task.NAME}"})
            return self.workshop.make(
                about,
                f"{self.kind} {foreign.digest}",
                lambda place: self._tried(foreign, place / name / container_task.NAME),
            )
        return about.model_copy(update=told)

    def _tried(self, foreign: Foreign, folder: Path) -> Tried:
        """Build its author's image, write the task upon it, and have it judged."""
        shop = self.workshop
        container, notes = self._built(foreign, folder)
        with Scratch("checkout") as scratch:
            checkout = scratch / "checkout.tar.gz"
            container, left = self._read(container, folder, checkout)
            container_task.finish(foreign, self.kind, container, folder, checkout, shop.sources)
        judged = self._judged(folder)
        if judged.problems and judged.unnamed:
            container_task.name_files(folder, judged.unnamed)
            told = f"Configuration that its solution writes crosses: {', '.join(judged.unnamed)}."
            judged, notes = self._judged(folder), (*notes, told)
        problems = judged.problems
        if problems and foreign.fetches.unknown:
            fetched = some(foreign.fetches.unknown, SHOWN)
            problems += (f"Its tests fetch what is not there: {fetched}",)
        return Tried(problems, (*foreign.notes, *notes, *left))

    def _judged(self, folder: Path) -> Judged:
        loaded = library.load_at(folder)
        image = self.workshop.images.ensure(loaded, self.workshop.tell)
        begun = time.monotonic()
        judged = self.workshop.judged(_narrowed(loaded, self.patience), image)
        if judged.problems and time.monotonic() - begun > self.patience:
            waited = f"An import waits {self.patience:g} s for a solution, and for tests"
            told = f"{waited}; --patience says how long."
            return replace(judged, problems=(*judged.problems, told))
        return judged

    def _built(self, foreign: Foreign, folder: Path) -> tuple[Container, tuple[str, ...]]:
        """Build its author's image with what ours has: of its own base, or of ours for it."""
        container = container_task.lay_context(foreign, folder, self.network, ours=False)
        reference = recipes.from_of((folder / container.context / "Dockerfile").read_text())
        notes: tuple[str, ...] = ("Its agent is the user `agent` here, and not root.",)
        if (
            self.workshop.engine.image(reference) is None
            and recipes.standing_for(reference) is not None
        ):
            try:
                self.workshop.tell(f"pulling {reference}")
                self.workshop.engine.pull(reference)
            except (EngineError, ImageError):
                container = container_task.lay_context(foreign, folder, self.network, ours=True)
                told = f"FROM {reference} is our image {container.base} here, with packages for it."
                notes = (told, *notes)
        self.workshop.images.made(
            recipes.adapted(folder.parent.name, container, folder), self.workshop.tell
        )
        return container, notes

    def _read(
        self, container: Container, folder: Path, target: Path
    ) -> tuple[Container, tuple[str, ...]]:
        """Take the working directory and the variables out of its image."""
        recipe = recipes.adapted(folder.parent.name, container, folder)
        image = self.workshop.engine.image(recipe.tag)
        if image is None:
            raise ImageError(f"{recipe.tag} has gone.", "Import it again.")
        spec = SessionSpec(image=image.id, labels={RUN: "import"}, limits=Limits())
        with self.workshop.engine.start(spec) as session:
            packed = _packed(session, container.workdir)
        links = _without_links(packed, target, folder.parent.name)
        notes = (f"Symbolic links were left out: {some(links, SHOWN)}.",) if links else ()
        kept = {name: value for name, value in image.environment.items() if _is_its_own(name)}
        return container.model_copy(update={"variables": {**kept, **container.variables}}), notes


def _narrowed(loaded: LoadedTask, seconds: float) -> LoadedTask:
    """Give a task whose limits of time are at most so long; what it was written with stays."""
    task = loaded.task
    limits = task.limits.model_copy(
        update={
            name: min(getattr(task.limits, name), seconds)
            for name in ("seconds", "command_seconds", "silence_seconds")
        }
    )
    within = min(task.tests.timeout_seconds, seconds)
    tests = task.tests.model_copy(update={"timeout_seconds": within})
    return replace(loaded, task=task.model_copy(update={"limits": limits, "tests": tests}))


def _packed(session: Session, workdir: str) -> bytes:
    ended = session.run(
        Command(
            argv=(
                "tar",
                "--create",
                "--hard-dereference",
                "--exclude=./.git",
                "--directory",
                workdir,
                ".",
            ),
            environment={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            user=ROOT,
            stdout_limit=MOST_BYTES,
        )
    )
    if ended.exit_code != 0 or ended.stdout_bytes > MOST_BYTES:
        said = ended.stderr.decode("utf-8", "replace").strip()
        raise ImageError(
            f"Its working directory {workdir} cannot be read: {said or 'it is too large'}.",
            "Leave it out; nothing of it was imported.",
        )
    return ended.stdout


def _without_links(packed: bytes, target: Path, name: str) -> list[str]:
    """Write the regular files as an archive of a release; say which links are not in it."""
    links = []
    with (
        tarfile.open(fileobj=io.BytesIO(packed)) as old,
        tarfile.open(target, "w:gz", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda each: each.name):
            path = member.name.removeprefix("./")
            if member.isreg():
                kept = tarfile.TarInfo(f"{name}/{path}")
                kept.size, kept.mode = member.size, member.mode
                new.addfile(kept, old.extractfile(member))
            elif not member.isdir():
                links.append(path)
    return links


def _is_its_own(name: str) -> bool:
    return name not in ("HOSTNAME", "HOME", "USER")


def folders_in(place: Path, kind: Kind) -> list[Path]:
    """Give the folders of tasks: the place itself, or all below it that have the kind's file."""
    marks: Mapping[Kind, str] = {"harbor": "task.toml", "terminal-bench": "task.yaml"}
    mark = marks[kind]
    if (place / mark).is_file():
        return [place]
    below = (each.parent for each in place.glob(f"*/{mark}"))
    found = sorted(each for each in below if not each.is_symlink())
    if not found:
        raise UsageError(
            f"{place} holds no {mark}, and none of its folders does.",
            "Name a folder of one task, or one of such folders.",
        )
    return found
