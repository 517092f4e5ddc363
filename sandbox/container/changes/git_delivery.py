"""What a run delivers by git beside what it leaves in the worktree, and what it has lost."""

import hashlib
import stat
from collections.abc import Iterable, Iterator

from sandbox.container.changes.git_files import Files, GitProblem, whole
from sandbox.container.changes.git_history import History
from sandbox.container.changes.git_objects import Objects
from sandbox.model import path_text as paths
from sandbox.model.change import GITLINK, Delivered, GitState
from sandbox.model.session import FileKind

BLOB_LIMIT = 16 << 20
"""Bytes of the largest file of the worktree that is compared."""

LOST_LIMIT = 20
"""Objects that are named as lost."""


def delivered(files: Files, tip: str, named: Iterable[str]) -> tuple[Delivered, ...]:
    """Read paths, relative to the worktree, at the branch's tip and in the worktree. GitProblem."""
    history = History(Objects(files))
    return tuple(
        Delivered(
            path=path,
            committed=_committed(history, tip, paths.raw(path)),
            worktree=_in_worktree(files, paths.raw(path)),
        )
        for path in sorted(set(named))
    )


def lost(files: Files, before: GitState) -> tuple[str, ...]:
    """Give objects that a repository led to and that are missing or damaged. GitProblem.

    Every object is read and verified by its own name, so nothing that stands in its place counts.
    """
    objects = Objects(files)
    missing: list[str] = []
    for identity in History(objects).behind(_led_to(before)):
        try:
            objects.get(identity)
        except GitProblem:
            if objects.exhausted:
                raise
            missing.append(identity)
            if len(missing) == LOST_LIMIT:
                break
    return tuple(missing)


def _led_to(state: GitState) -> Iterator[str]:
    named = (state.head, *state.refs.values(), *state.stash)
    yield from dict.fromkeys(name for name in named if len(name) == 40 and "/" not in name)
    yield from (entry.object for entry in state.index if entry.mode != GITLINK)


def _committed(history: History, tip: str, path: bytes) -> str | None:
    entry = history.entry(tip, path)
    return None if entry is None else f"{entry[0].decode()} {entry[1]}"


def _in_worktree(files: Files, path: bytes) -> str | None:
    """Name a file as git would; GitProblem where it lies behind a link or cannot be read."""
    found = files.stat(path)
    if found is None or found.kind is FileKind.DIRECTORY:
        return None
    if found.kind is not FileKind.FILE:
        return f"{found.kind}"
    content = whole(files, path, BLOB_LIMIT) or b""
    mode = "100755" if found.mode & stat.S_IXUSR else "100644"
    header = b"blob %d\0" % len(content)
    return f"{mode} {hashlib.sha1(header + content, usedforsecurity=False).hexdigest()}"
