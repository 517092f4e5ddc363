"""Where HEAD is in the worktrees that `git worktree add` has made: git-worktree(1), Details."""

import hashlib
import posixpath
from collections.abc import Iterator

from sandbox.container.changes.git_files import Files, GitProblem, whole
from sandbox.model import path_text as paths
from sandbox.model.session import FileKind, Touch, TouchKind

TOP = "worktrees"
HEAD_LIMIT = 4096
"""Bytes of a HEAD."""
BACK = b"../.."
"""What their `commondir` says: the directory that has the repository's refs."""
EMPTY = hashlib.sha256().hexdigest()
"""The digest of one that is being written; no git goes on where it is empty (git's setup.c)."""


class LinkedWorktrees:
    """Known by their folders below `.git`."""

    def __init__(self, files: Files) -> None:
        """Read those of the start; GitProblem where that cannot be done."""
        self._heads: dict[str, str] = {}
        self.diverted = False
        """Whether somebody had a git keep its refs elsewhere; then hooks prove nothing."""
        for entry in files.list(f".git/{TOP}".encode()):
            if entry.kind is FileKind.DIRECTORY:
                folder = f"{TOP}/{paths.text(entry.path)}"
                self._set(folder, read_head(files, f"{folder}/HEAD"))

    def take(self, name: str, touch: Touch, files: Files) -> str | None:
        """Take a touch by its path below `.git`; give what the HEAD of one names now."""
        folder, _, last = name.rpartition("/")
        is_there = touch.kind is TouchKind.FILE
        if last == "commondir" and is_there and touch.digest != EMPTY:
            is_linked = posixpath.dirname(folder) == TOP
            self.diverted |= not is_linked or touch.head.strip() != BACK
        if not is_there:
            self._forget(name)
        elif last == "HEAD" and posixpath.dirname(folder) == TOP:
            return self._set(folder, head_of(touch, files, name))
        return None

    @property
    def refs(self) -> set[str]:
        """What their HEADs name."""
        return {*self._heads.values()}

    def at(self, ref: str) -> Iterator[str]:
        """Give the folders of those whose HEAD names a ref."""
        return (folder for folder, head in self._heads.items() if head == ref)

    def _set(self, folder: str, head: str | None) -> str | None:
        self._forget(folder)
        if head is not None:
            self._heads[folder] = head
        return head

    def _forget(self, name: str) -> None:
        for folder in [*self._heads]:
            if f"{folder}/HEAD" == name or f"{folder}/".startswith(f"{name}/"):
                del self._heads[folder]


def head_of(touch: Touch, files: Files, name: str) -> str | None:
    """Give what a HEAD below `.git` that was touched names; None where nothing is there now."""
    if touch.kind is not TouchKind.FILE:
        return None
    return _named(touch.head) if touch.head else read_head(files, name)


def read_head(files: Files, name: str) -> str | None:
    """Give what a HEAD below `.git` names, a ref or a commit's id."""
    try:
        return _named(whole(files, paths.raw(f".git/{name}"), HEAD_LIMIT) or b"")
    except GitProblem:
        return None


def _named(data: bytes) -> str | None:
    return paths.text(data).strip().removeprefix("ref: ") or None
