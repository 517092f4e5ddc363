"""Differences by the supervisor's manifest: for engines whose storage this host cannot read.

Everything is looked at twice by its status alone, which the kernel changes with any change
(ctime cannot be set); only what differs then is hashed.
"""

import os
from collections.abc import Iterator, Sequence

from sandbox.container.changes.bounds import Bounds
from sandbox.container.changes.difference import Difference, Digests, Status, compare, status_of
from sandbox.container.changes.mounts import Mounts
from sandbox.container.engines.base import RESERVED, Session
from sandbox.model.session import FileKind, Wanted

BATCH_BYTES = 256 << 10
"""Bytes of paths in one request, well below the protocol's largest frame."""


class Baseline:
    """What some roots of a session held at its start."""

    def __init__(self, session: Session, roots: Sequence[bytes], mounts: Mounts) -> None:
        """Take it: about 4 ms per 1,000 files."""
        self._roots = roots
        self._mounts = mounts
        self._records = self._manifest(session)

    def differences(
        self, session: Session, digests_before: Digests, bounds: Bounds
    ) -> dict[bytes, Difference]:
        """Give each path that differs now; `digests_before` hashes files as they were."""
        old, there = self._records, set()

        def differs(path: bytes, record: bytes) -> bool:
            if path not in old:
                return bounds.takes(path)
            there.add(path)
            return old[path] != record

        new = self._manifest(session, differs)
        touched = new.keys() | (old.keys() - there)
        before = self._statuses(session, old, touched)
        after = self._statuses(session, new, touched)
        return compare(before, after, digests_before, lambda files: digests(session, files))

    def files(self, session: Session) -> list[bytes]:
        """Give the regular files that there were."""
        entries = (session.entry(path, record) for path, record in self._records.items())
        return sorted(entry.path for entry in entries if entry.kind is FileKind.FILE)

    def _statuses(
        self, session: Session, records: dict[bytes, bytes], touched: set[bytes]
    ) -> dict[bytes, Status]:
        return {
            path: status_of(session.entry(path, records[path]))
            for path in touched
            if path in records and not self._mounts.excluded(path)
        }

    def _manifest(self, session: Session, wanted: Wanted | None = None) -> dict[bytes, bytes]:
        roots = [os.fsdecode(root) for root in self._roots]
        return session.manifest(roots, excluding=[RESERVED], wanted=wanted) if roots else {}


def digests(session: Session, files: list[bytes]) -> dict[bytes, str]:
    """Hash regular files in the container; what is no file there is left out."""
    found: dict[bytes, str] = {}
    for batch in _batches(files):
        for path, record in session.manifest(batch, digest=True).items():
            entry = session.entry(path, record)
            if entry.digest:
                found[path] = entry.digest
    return found


def _batches(paths: list[bytes]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for path in paths:
        if batch and size + len(path) > BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(os.fsdecode(path))
        size += len(path)
    if batch:
        yield batch
