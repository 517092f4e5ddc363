"""Which program of the image a file is, by its content: a copy is what it was copied from."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from posixpath import join

from sandbox.actions.workspace import ENVIRONMENT
from sandbox.engines.base import Session
from sandbox.model import path as paths
from sandbox.model.session import FileEntry, FileKind

PART = 4 << 20


@dataclass(slots=True)
class _Known:
    """A program as it was before the agent could do anything."""

    name: str
    path: str
    digest: str | None = None
    """None until it is needed, where only root can change the file."""


@dataclass(slots=True)
class Identities:
    """The programs of an image, to be recognised wherever their content turns up.

    A file that only root can change is not read before another one of its size is met.
    """

    session: Session
    _by_file: dict[tuple[int, int, int, int], _Known] = field(default_factory=dict)
    _by_size: dict[int, list[_Known]] = field(default_factory=dict)

    def learn(self, wanted: Callable[[str], bool]) -> None:
        """Look at the programs in PATH whose name is wanted."""
        for path, entry in self._programs(wanted):
            key = _key(entry)
            if key in self._by_file:
                continue
            known = _Known(path.rpartition("/")[2], path)
            if entry.uid != 0:
                known.digest = self._digest(path, entry.size)
            self._by_file[key] = known
            self._by_size.setdefault(entry.size, []).append(known)

    def identify(self, path: str) -> str | None:
        """Return the name of the program that a file is, None where it is none of them."""
        try:
            entry = self.session.stat(paths.raw(path), follow=True)
        except OSError:
            return None
        if entry.kind is not FileKind.FILE:
            return None
        known = self._by_file.get(_key(entry))
        if known is not None:
            return known.name
        alike = self._by_size.get(entry.size)
        if not alike or not entry.size:
            return None
        digest = self._digest(path, entry.size)
        return next(
            (one.name for one in alike if digest and digest == self._own(one, entry.size)), None
        )

    def _own(self, known: _Known, size: int) -> str | None:
        if known.digest is None:
            known.digest = self._digest(known.path, size)
        return known.digest

    def _listed(self, wanted: Callable[[str], bool]) -> Iterator[str]:
        for folder in ENVIRONMENT["PATH"].split(":"):
            with suppress(OSError):
                names = [paths.text(one.path) for one in self.session.list(folder)]
                yield from (join(folder, name) for name in names if wanted(name))

    def _programs(self, wanted: Callable[[str], bool]) -> Iterator[tuple[str, FileEntry]]:
        for path in self._listed(wanted):
            with suppress(OSError):
                entry = self.session.stat(paths.raw(path), follow=True)
                if entry.kind is FileKind.FILE:
                    yield path, entry

    def _digest(self, path: str, size: int) -> str | None:
        digest = hashlib.sha256()
        try:
            for offset in range(0, size, PART):
                digest.update(self.session.read(paths.raw(path), offset=offset, limit=PART))
        except OSError:
            return None
        return digest.hexdigest()


def _key(entry: FileEntry) -> tuple[int, int, int, int]:
    return entry.inode, entry.size, entry.mtime_ns, entry.uid
