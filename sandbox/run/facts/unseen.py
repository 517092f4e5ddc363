"""Files that were written without an event: by another name of them, or through memory.

A watched folder tells of what is done by the names in it (inotify(7)), not of a write by a hard
link elsewhere, nor of one to a page that was mapped (mmap(2)). Both change the time of the file's
status, which nobody but the kernel sets. So does a further name that is given to a file.
"""

import hashlib
import time
from collections.abc import Iterable, Iterator

from sandbox.container.engines.base import Session
from sandbox.model import path_text as paths
from sandbox.model.session import FileEntry, FileKind, Touch, TouchKind
from sandbox.run.facts.baseline import Watched
from sandbox.run.facts.worktree import Worktree

BYTES = 8 << 20
"""Of a file that is read to be compared; a larger one is another."""


class Unseen:
    """Knows when each file was last told of, and looks whether it was changed since."""

    def __init__(self, session: Session, worktree: Worktree, watched: Watched) -> None:
        """Take everything for as it is known now."""
        self._session, self._worktree = session, worktree
        self._roots = watched.roots
        self._excluded = [each for each in watched.excluded if each.startswith("/")]
        self._since = clock()
        self._told: dict[bytes, int] = {}
        """By path: when it had been changed last, in nanoseconds since 1970."""

    def told(self, touch: Touch) -> None:
        """Take what was told of a file for what it is."""
        if touch.kind is TouchKind.FILE:
            self._told[touch.path] = touch.changed_ns

    def changed(self, started: int) -> Iterator[str]:
        """Yield the watched files, by absolute path, that were changed and not told of.

        Not those that were only given another name before `started`, and hold what they held.
        """
        for path, entry in self._changed(self._roots):
            if entry.links == 1 or entry.ctime_ns > started or not self._holds(path, entry):
                yield path

    def is_changed(self, path: str) -> bool:
        """Whether one file was."""
        return any(not self._holds(path, entry) for _, entry in self._changed([path]))

    def _holds(self, path: str, entry: FileEntry) -> bool:
        """Whether a file holds what is known of it, and nobody has written it meanwhile."""
        held = self._worktree.holds(path)
        try:
            data = self._session.read(entry.path, limit=BYTES, follow=False)
        except OSError:
            return False
        same = held is not None and held.digest == hashlib.sha256(data).hexdigest()
        return same and all(entry.ctime_ns == now.ctime_ns for _, now in self._changed([path]))

    def _changed(self, roots: Iterable[str]) -> Iterator[tuple[str, FileEntry]]:
        try:
            records = self._session.manifest([*roots], excluding=self._excluded, since=self._since)
        except OSError:
            return
        for path, record in records.items():
            entry = self._session.entry(path, record)
            known = self._told.get(path, self._since)
            if entry.kind is FileKind.FILE and entry.ctime_ns > known:
                yield paths.text(path), entry


def clock() -> int:
    """Return what time it is, as files have it: nanoseconds since 1970."""
    return time.time_ns()
