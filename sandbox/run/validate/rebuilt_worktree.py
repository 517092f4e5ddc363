"""The worktree of an image, built again from the pinned sources, against the one in a session."""

import hashlib
import os
import stat
from pathlib import Path

from sandbox.container.engines.base import Engine, Session
from sandbox.model import path_text as paths
from sandbox.model import places
from sandbox.model.scratch import Scratch
from sandbox.model.session import FileKind
from sandbox.model.task import Task
from sandbox.run.run_containers import begin
from sandbox.run.validate.checks import Check, Row, row_status
from sandbox.tasks import repos
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.images.pins import INSTALLED
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.sources import Sources

Files = dict[bytes, tuple[FileKind, bool, str]]
"""By path below the worktree: kind, whether it is an executable file, and digest or target. A build
context carries no other permissions into an image."""

SHOWN = 3


def rebuilt(engine: Engine, loaded: LoadedTask, image: BuiltImage, label: str) -> list[str]:
    """Build the worktree again; give the paths that differ from those in a fresh session.

    What the environment has installed there is left out: no repository is built with it.

    Raises as `repos.build` and the engine do.
    """
    with Scratch("worktree") as folder:
        again = folder / loaded.repository.name
        sources = Sources(places.cache())
        world = loaded.task.world
        repos.build(loaded.repository, world, loaded.folder, sources, again, lambda _: None)
        built = files_of_folder(again)
    with begin(engine, loaded, image, label, bare=True) as session:
        shown = files_of_session(session, loaded.worktree)
    every = sorted(path for path in built.keys() | shown.keys() if not is_installed(path))
    return [paths.text(path) for path in every if built.get(path) != shown.get(path)]


def is_installed(path: bytes) -> bool:
    """Whether a path below the worktree is the environment's, not the repository's."""
    return path.partition(b"/")[0] == os.fsencode(INSTALLED)


def files_of_folder(folder: Path) -> Files:
    """Read a folder of this host."""
    found: Files = {}
    for path in folder.rglob("*"):
        if path.is_symlink():
            told = FileKind.SYMLINK, False, str(path.readlink())
        elif path.is_dir():
            told = FileKind.DIRECTORY, False, ""
        else:
            executable = bool(path.stat().st_mode & stat.S_IXUSR)
            told = FileKind.FILE, executable, hashlib.sha256(path.read_bytes()).hexdigest()
        found[os.fsencode(path.relative_to(folder))] = told
    return found


def files_of_session(session: Session, worktree: str) -> Files:
    """Read a folder of a session."""
    found: Files = {}
    base = os.fsencode(worktree.rstrip("/")) + b"/"
    for path, record in session.manifest([worktree], digest=True).items():
        entry = session.entry(path, record)
        if path.startswith(base):
            executable = entry.kind is FileKind.FILE and bool(entry.mode & stat.S_IXUSR)
            told = entry.digest or os.fsdecode(entry.target)
            found[path.removeprefix(base)] = entry.kind, executable, told
    return found


def rebuilt_row(task: Task, differing: list[str]) -> Row:
    """Say whether the worktree can be built again."""
    problems = [f"{path} differs" for path in differing[:SHOWN]]
    if len(differing) > SHOWN:
        problems.append(f"and {len(differing) - SHOWN} more")
    return Row(
        task=task.id,
        check=Check.RESET,
        what="the worktree, built again",
        expected="has the files of a session, byte for byte",
        result="the same" if not differing else f"{len(differing)} paths differ",
        status=row_status(problems),
        notes=tuple(problems),
    )
