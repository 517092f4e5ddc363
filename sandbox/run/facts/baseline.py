"""What an image holds at the watched folders, by digest, before anybody has changed anything."""

import hashlib
import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sandbox.container.engines.base import Session
from sandbox.model import documents
from sandbox.model import path_text as paths
from sandbox.model.base import Record
from sandbox.model.layer import Layer
from sandbox.model.session import FileEntry, FileKind, Touch
from sandbox.model.task import Task
from sandbox.run.facts import kept_baselines, settings

NAMES = ("__pycache__", ".pytest_cache", ".vite", ".vite-temp")
"""Folders of caches, wherever they stand: nothing that a rule looks at."""

KEPT = 8
"""Images whose contents are kept in memory: a batch runs one task many times."""
FORMAT = 1
"""Of what is kept on this machine."""


@dataclass(frozen=True, slots=True)
class Held:
    """What stands at a path."""

    digest: str
    """SHA-256 of a file's content or of a link's target; empty where it is not known."""
    kind: str
    executable: bool
    mode: int

    @property
    def content(self) -> tuple[str, str, bool]:
        """What is compared: of the mode only whether it can be run, as git does."""
        return self.digest, self.kind, self.executable


Baseline = dict[str, Held]
"""By absolute path, as text; folders are left out."""


class Runtimes(Record):
    """The folders of each framework's runner."""

    folders: dict[str, tuple[str, ...]]
    tools: dict[str, tuple[str, ...]]
    """Names of programs that a runner calls to make what it then tests."""


@dataclass(frozen=True, slots=True)
class Watched:
    """The folders of a task that are watched."""

    worktree: str
    runtime: tuple[str, ...]
    """Folders of the test runner."""
    excluded: tuple[str, ...]
    framework: str = "pytest"
    settings: tuple[str, ...] = ()
    """Files from which the runner takes settings, in folders that are not watched otherwise."""

    @classmethod
    def of(cls, task: Task, worktree: str) -> "Watched":
        """Leave out what tools write as they run, but for the runner's own files."""
        runtime = tuple(_absolute(each, worktree) for each in _runtimes(task.tests.framework))
        folders = (
            pattern.removesuffix("/**")
            for pattern in task.scope.generated
            if pattern.endswith("/**") and not set("*?[") & set(pattern.removesuffix("/**"))
        )
        generated = {_absolute(each, worktree) for each in folders}
        objects = f"{worktree}/.git/objects"
        excluded = (objects, *NAMES, *sorted(generated - {*runtime}))
        framework = task.tests.framework
        return cls(worktree, runtime, excluded, framework, settings.files_of(framework))

    def is_settings(self, path: str) -> bool:
        """Whether an absolute path is of a file of settings, or of what leads to one."""
        return any(path == each or each.startswith(path + "/") for each in self.settings)

    def is_tool(self, path: str) -> bool:
        """Whether a program has the name of one that the runner calls."""
        tools = _all_runtimes().tools.get(self.framework, ())
        return path.rpartition("/")[2] in tools

    @property
    def roots(self) -> tuple[str, ...]:
        """Where watching begins; what lies in the worktree is found from there."""
        outside = (each for each in self.runtime if not each.startswith(self.worktree + "/"))
        return (self.worktree, *outside)


_kept: dict[str, Baseline] = {}


def baseline(session: Session, image: str, layer: Layer, watched: Watched) -> Baseline:
    """Look at everything that is watched; at that of an image and a layer once on this machine."""
    if not image.startswith("sha256:"):
        return _look(session, watched)
    of_all = (FORMAT, image, layer.model_dump_json(), watched, NAMES)
    key = hashlib.sha256(repr(of_all).encode()).hexdigest()
    found = _kept.get(key)
    if found is None:
        while len(_kept) >= KEPT:
            _kept.pop(next(iter(_kept)), None)
        _kept[key] = found = _stored(session, key, watched)
    return found


def _stored(session: Session, key: str, watched: Watched) -> Baseline:
    rows = kept_baselines.load(key)
    if rows is not None:
        return {path: Held(*row) for path, row in rows.items()}
    found = _look(session, watched)
    rows = {
        path: (each.digest, each.kind, each.executable, each.mode) for path, each in found.items()
    }
    kept_baselines.keep(key, rows)
    return found


def held(touch: Touch) -> Held:
    """What a touch says of a path."""
    return _held(touch.digest, stat.S_IFMT(touch.mode), stat.S_IMODE(touch.mode))


def _look(session: Session, watched: Watched) -> Baseline:
    excluded = [each for each in watched.excluded if each.startswith("/")]
    records = session.manifest(watched.roots, excluding=excluded, digest=True)
    entries = (session.entry(path, record) for path, record in records.items())
    return {
        paths.text(entry.path): _of_entry(entry)
        for entry in entries
        if entry.kind is not FileKind.DIRECTORY
        and not set(NAMES) & set(paths.text(entry.path).split("/"))
    }


def _of_entry(entry: FileEntry) -> Held:
    link = entry.kind is FileKind.SYMLINK
    digest = hashlib.sha256(entry.target).hexdigest() if link else entry.digest
    kinds = {FileKind.FILE: stat.S_IFREG, FileKind.SYMLINK: stat.S_IFLNK}
    return _held(digest, kinds.get(entry.kind, 0), entry.mode)


def _held(digest: str, kind: int, mode: int) -> Held:
    names = {stat.S_IFREG: "file", stat.S_IFLNK: "link"}
    executable = kind == stat.S_IFREG and bool(mode & stat.S_IXUSR)
    return Held(digest, names.get(kind, "other"), executable, kind | mode)


def _absolute(path: str, worktree: str) -> str:
    return path if path.startswith("/") else f"{worktree}/{path}"


@lru_cache(maxsize=1)
def _all_runtimes() -> Runtimes:
    return documents.load(Path(__file__).with_name("runtimes.yaml"), Runtimes)


def _runtimes(framework: str) -> tuple[str, ...]:
    return _all_runtimes().folders.get(framework, ())
