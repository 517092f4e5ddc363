"""Which program of the image a file is, by its content: a copy is what it was copied from."""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from posixpath import join

from sandbox.container.engines.base import Session
from sandbox.model import path_text as paths
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.session import FileEntry, FileKind

PART = 4 << 20
LINE = 256
"""Bytes of an interpreter line that the kernel looks at."""


@dataclass(slots=True)
class _Known:
    """A program as it was before the agent could do anything."""

    name: str
    path: str
    digest: str | None = None
    """None until it is needed, where only root can change the file."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a file is."""

    name: str | None = None
    """The program of the image that it is; None where it is none."""
    interpreter: tuple[str, ...] = ()
    """Of another file that is a script: the program of its first line, and its one argument."""


_Key = tuple[int, int, int, int]


@dataclass(slots=True)
class Identities:
    """The programs of an image, to be recognised wherever their content turns up.

    A file that only root can change is not read before another one of its size is met.
    """

    session: Session
    _by_file: dict[_Key, _Known] = field(default_factory=dict)
    _by_size: dict[int, list[_Known]] = field(default_factory=dict)
    _looked: dict[_Key, Looked] = field(default_factory=dict)
    """What was said of files that the agent cannot change."""

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

    def look(self, path: str) -> Looked:
        """Say which program a file is, or else what its first line starts."""
        try:
            entry = self.session.stat(paths.raw(path), follow=True)
        except OSError:
            return Looked()
        if entry.kind is not FileKind.FILE:
            return Looked()
        key = _key(entry)
        found = self._looked.get(key)
        if found is None:
            name = self._name(path, entry)
            found = Looked(name, () if name else self._interpreter(path))
            if entry.uid == 0:
                self._looked[key] = found
        return found

    def identify(self, path: str) -> str | None:
        """Return the name of the program that a file is, None where it is none of them."""
        return self.look(path).name

    def _name(self, path: str, entry: FileEntry) -> str | None:
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

    def _interpreter(self, path: str) -> tuple[str, ...]:
        try:
            head = self.session.read(paths.raw(path), limit=LINE)
        except OSError:
            return ()
        if not head.startswith(b"#!"):
            return ()
        words = head[2:].partition(b"\n")[0].strip(b" \t").split(None, 1)
        return tuple(map(os.fsdecode, words))

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


def _key(entry: FileEntry) -> _Key:
    """Tell a file from others; the time of its last change of any kind cannot be set."""
    return entry.inode, entry.size, entry.ctime_ns, entry.uid
