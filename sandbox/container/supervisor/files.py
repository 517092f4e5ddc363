"""Files and trees of a container, as a supervisor reads and writes them."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

from sandbox.container.supervisor import protocol
from sandbox.container.supervisor.process import Answer, Part, Pending
from sandbox.container.supervisor.protocol import File, Manifest, Request
from sandbox.model.session import AGENT, ROOT, FileEntry, User, Wanted

Outgoing = bytes | Iterator[bytes]
"""A frame, or several that are made as they are sent: together they would be a second copy."""

WRITE_CHUNK = 1 << 18
EVERYTHING = (1 << 64) - 1


class RemoteFiles(ABC):
    """The part of `engines.base.Session` that is about files; `Supervisor` sends its requests."""

    @abstractmethod
    def _ask(self, kind: Request, payload: bytes, subject: str | bytes) -> Sequence[bytes]:
        """Send a request and wait for all parts of its answer."""

    @abstractmethod
    def _ask_for(
        self, kind: Request, payload: bytes, subject: str | bytes, read: Callable[[bytes], Part]
    ) -> Sequence[Part]:
        """Do as `_ask`, each part read as it comes."""

    @abstractmethod
    def _expect(self, pending: Pending) -> int:
        """Return a request id whose frames go to `pending`."""

    @abstractmethod
    def _send(self, data: Outgoing) -> None:
        """Send whole frames."""

    @abstractmethod
    def _settled(self, pending: Pending) -> None:
        """Wait for the last frame of an answer; a supervisor that says nothing is lost."""

    def read(
        self,
        path: str | bytes,
        *,
        beneath: str | bytes = "/",
        offset: int = 0,
        limit: int | None = None,
        user: User = ROOT,
        follow: bool = True,
    ) -> bytes:
        """Bytes of a regular file."""
        payload = b"".join(
            (
                number(File.FOLLOW if follow else 0),
                _user(user),
                _u64(offset),
                _u64(EVERYTHING if limit is None else limit),
                _place(path, beneath),
            )
        )
        return b"".join(self._ask(Request.READ, payload, path))

    def write(
        self,
        path: str | bytes,
        data: bytes | bytearray,
        *,
        beneath: str | bytes = "/",
        mode: int | None = None,
        user: User = AGENT,
        parents: bool = False,
        follow: bool = True,
    ) -> None:
        """Write a whole regular file; an old one keeps its mode unless `mode` is given."""
        flags = (File.PARENTS if parents else 0) | (File.KEEP_MODE if mode is None else 0)
        flags |= File.FOLLOW if follow else 0
        view = memoryview(data)
        payload = b"".join(
            (
                number(flags),
                _user(user),
                number(0o644 if mode is None else mode),
                _u64(len(data)),
                _place(path, beneath),
                protocol.string(bytes(view[:WRITE_CHUNK])),
            )
        )
        answer = Answer(path, bytes)
        request = self._expect(answer)
        # In one go: what is interrupted in between would wait for the rest for ever.
        first = protocol.frame(Request.WRITE, request, payload)
        rest = (
            protocol.frame(Request.WRITE_DATA, request, bytes(view[at : at + WRITE_CHUNK]))
            for at in range(WRITE_CHUNK, len(data), WRITE_CHUNK)
        )
        self._send(itertools.chain((first,), rest))
        self._settled(answer)

    def remove(
        self,
        path: str | bytes,
        *,
        beneath: str | bytes = "/",
        user: User = AGENT,
        follow: bool = True,
    ) -> None:
        """Remove a file, a link or an empty directory."""
        flags = number(File.FOLLOW if follow else 0)
        self._ask(Request.REMOVE, flags + _user(user) + _place(path, beneath), path)

    def stat(
        self, path: str | bytes, *, beneath: str | bytes = "/", follow: bool = False
    ) -> FileEntry:
        """One entry, under the path that was asked for."""
        payload = number(File.FOLLOW if follow else 0) + _place(path, beneath)
        (part,) = self._ask(Request.STAT, payload, path)
        (record,) = protocol.entries(part).values()
        return protocol.entry(protocol.encode(path), record)

    def list(
        self, path: str | bytes, *, beneath: str | bytes = "/", user: User = ROOT
    ) -> list[FileEntry]:
        """Entries of a directory in byte order."""
        parts = self._ask(Request.LIST, _user(user) + _place(path, beneath), path)
        found = [item for part in parts for item in protocol.entries(part).items()]
        return [protocol.entry(name, record) for name, record in sorted(found)]

    def manifest(
        self,
        roots: Sequence[str],
        *,
        excluding: Sequence[str] = (),
        digest: bool = False,
        wanted: Wanted | None = None,
        since: int = 0,
    ) -> dict[bytes, bytes]:
        """Everything below `roots`, which are absolute; one that does not exist has no entry.

        What is not `wanted` is left out as it comes.
        """
        flags = (Manifest.DIGEST if digest else 0) | (Manifest.SINCE if since else 0)
        head = number(flags) + (_u64(since) if since else b"")
        payload = head + protocol.strings(roots) + protocol.strings(excluding)
        records: dict[bytes, bytes] = {}
        subject = " ".join(roots)

        def keep(part: bytes) -> int:
            found = protocol.entries(part)
            if wanted is not None:
                found = {path: record for path, record in found.items() if wanted(path, record)}
            records.update(found)
            return len(found)

        self._ask_for(Request.MANIFEST, payload, subject, keep)
        return records

    def entry(self, path: bytes, record: bytes) -> FileEntry:
        """What a manifest's record says."""
        return protocol.entry(path, record)


def number(value: int) -> bytes:
    """A number of four bytes."""
    return value.to_bytes(4, "little")


def _u64(number: int) -> bytes:
    return number.to_bytes(8, "little")


def _user(user: User) -> bytes:
    return number(user.uid) + number(user.gid)


def _place(path: str | bytes, beneath: str | bytes) -> bytes:
    return protocol.string(beneath) + protocol.string(path)
