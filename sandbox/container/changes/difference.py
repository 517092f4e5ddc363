"""What counts as a difference, for both ways of finding it."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from sandbox.model import path_text as paths
from sandbox.model.change import FileState
from sandbox.model.session import FileEntry, FileKind

DIGEST_LIMIT = 256 << 20
"""Bytes of the largest file that is hashed. A larger one counts as changed once it is written."""

PATH_LIMIT = 4000
"""Bytes of the longest path that the kernel takes at once. A file below it is not hashed either."""

DIGEST_TOTAL = 2 << 30
"""Bytes that are hashed at most on each side, in order of path, so that no agent buys time."""


class Status(NamedTuple):
    """What is compared of an entry: not its times and inode."""

    kind: FileKind
    mode: int
    uid: int
    gid: int
    size: int
    """Bytes; 0 for what is not a regular file."""
    target: bytes | None = None
    digest: str | None = None
    links: int = 1
    """Names of a regular file; compared only where there are more than before."""
    rights: str = ""
    """Its access control list, in hexadecimal, where the way to look at it tells."""


class Difference(NamedTuple):
    """One path's status before and after; None where it is not there."""

    before: Status | None
    after: Status | None


Digests = Callable[[list[bytes]], Mapping[bytes, str]]
"""Hashes regular files, given in order of path; one that cannot be hashed is left out."""


def status_of(entry: FileEntry) -> Status:
    """Give what is compared of an entry."""
    return Status(
        entry.kind,
        entry.mode,
        entry.uid,
        entry.gid,
        entry.size if entry.kind is FileKind.FILE else 0,
        entry.target if entry.kind is FileKind.SYMLINK else None,
        links=entry.links if entry.kind is FileKind.FILE else 1,
    )


def compare(
    before: Mapping[bytes, Status], after: Mapping[bytes, Status], old: Digests, new: Digests
) -> dict[bytes, Difference]:
    """Hash what is needed and give the paths that differ.

    A file as it is always gets its digest, a file as it was only where the size is the same.
    """
    fresh = new(_affordable((path, status.size) for path, status in after.items() if _file(status)))
    alike = [
        (path, status.size)
        for path, status in before.items()
        if path in fresh and _file(status) and status.size == after[path].size
    ]
    stale = old(_affordable(alike))
    found = {}
    for path in before.keys() | after.keys():
        one, other = before.get(path), after.get(path)
        if path in stale and one is not None:
            one = one._replace(digest=stale[path])
        if path in fresh and other is not None:
            other = other._replace(digest=fresh[path])
        if other is not None:
            # What is new has no names that it had not; copying up may take names away, too.
            more = one is not None and other.links > one.links
            other = other._replace(links=2 if more else 1)
        one = None if one is None else one._replace(links=1)
        if one != other or (other is not None and _file(other) and other.digest is None):
            found[path] = Difference(one, other)
    return found


@lru_cache(maxsize=4096)
def state(status: Status) -> FileState:
    """Give the record of a status; many files of an image differ in nothing but their names."""
    kind, mode, uid, gid, size, target, digest, links, rights = status
    return FileState(
        kind=kind,
        mode=mode,
        uid=uid,
        gid=gid,
        size=size,
        target=None if target is None else paths.text(target),
        digest=digest,
        linked=links > 1,
        rights=rights,
    )


def _file(status: Status) -> bool:
    return status.kind is FileKind.FILE


def _affordable(files: Iterable[tuple[bytes, int]]) -> list[bytes]:
    chosen = []
    total = 0
    for path, size in sorted(files):
        if len(path) <= PATH_LIMIT and size <= DIGEST_LIMIT and total + size <= DIGEST_TOTAL:
            total += size
            chosen.append(path)
    return chosen


def since(
    earlier: Mapping[bytes, Difference], later: Mapping[bytes, Difference]
) -> dict[bytes, Difference]:
    """Give what changed between two looks, each of which compares with the same image."""
    found = {path: pair for path, pair in later.items() if path not in earlier}
    for path, pair in earlier.items():
        now = later[path].after if path in later else pair.before
        if now != pair.after:
            found[path] = Difference(pair.after, now)
    return found
