"""The state that a session starts from, as one digest."""

import hashlib
import os

from sandbox.container.engines.base import RESERVED, Session
from sandbox.model.errors import EvidenceError
from sandbox.model.session import FileEntry, FileKind

EXCLUDED = ("/proc", "/sys", "/dev", RESERVED)
"""The kernel's and the harness's own; what else is mounted, a manifest leaves out itself."""

LAID = (
    *(b"/.dockerenv", b"/run/.containerenv", b"/etc/hostname"),
    *(b"/etc/hosts", b"/etc/mtab", b"/etc/resolv.conf"),
)
"""Files that engines make in each container as it starts, so that their time is the moment's."""


def state_digest(session: Session) -> str:
    """SHA-256 over every path of the root file system: its kind, mode, owner and content.

    Of regular files and links the time of change too, as an agent can see it; not of what engines
    lay into each container, nor of folders, in which they do so. EvidenceError where a file cannot
    be read: a digest that leaves something out is none.
    """
    digest = hashlib.sha256()
    found = session.manifest(["/"], excluding=EXCLUDED, digest=True)
    for path, record in sorted(found.items()):
        digest.update(_line(path, session.entry(path, record)))
    return digest.hexdigest()


def _line(path: bytes, entry: FileEntry) -> bytes:
    if entry.problem:
        why = f"{os.fsdecode(path)!r} cannot be read: {os.strerror(entry.problem)}"
        raise EvidenceError(f"The state of a session has no digest: {why}.")
    folder = entry.kind is FileKind.DIRECTORY
    size = 0 if folder else entry.size
    time = 0 if folder or path in LAID else entry.mtime_ns
    fields = (entry.kind, f"{entry.mode:o}", entry.uid, entry.gid, size, time, entry.digest)
    said = "\0".join(map(str, fields)).encode()
    return b"\0".join((path, entry.target, said)) + b"\n"
