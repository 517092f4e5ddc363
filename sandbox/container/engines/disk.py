"""What a container has taken of its engine's disk.

By its overlay's upper directory where this host can read it; else by what the engine says, which
takes the engine as long. Files that have no name any more are found by the descriptors that hold
them open.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from sandbox.container.engines.folder_walk import FLAGS, entries_below
from sandbox.model.errors import EngineError
from sandbox.model.session import DiskUse

BLOCK = 512
"""Bytes of a unit of `st_blocks` (stat(2))."""

Seen = set[tuple[int, int]]
"""Device and inode of files that were counted."""


class DiskMeter:
    """Measures one container."""

    def __init__(
        self,
        root: Path | None,
        upper: Callable[[], Path | None],
        init: Callable[[], int | None],
        told: Callable[[], int | None],
    ) -> None:
        """`root` is the engine's folder on this host, None where it is another's.

        `upper`, `init` and `told` give the overlay's directory, the first process's number on this
        host, and the bytes that the engine counts; None where that cannot be.
        """
        self._root, self._told = root, told
        self._find_upper, self._find_init = upper, init
        self._found: tuple[Path | None, int | None] | None = None

    def measure(self, most: int) -> DiskUse:
        """Say what was taken until now; no more than about `most` files are looked at.

        With 0 it only says what is free, which takes no time. EngineError where the container's
        files are gone.
        """
        if not most:
            return DiskUse(None, None, self._free())
        if self._found is None:
            upper = self._find_upper()
            self._found = upper, self._find_init() if upper else None
        upper, init = self._found
        if upper is None:
            return DiskUse(self._told(), None, self._free())
        try:
            size, count = _tree(upper, most)
        except OSError as error:
            raise EngineError(
                f"The container's files cannot be looked at: {error.strerror}.",
                "It was removed by somebody, or this process has too many files open.",
            ) from error
        if init is not None and os.geteuid() == 0:
            size += _unnamed(init)
        return DiskUse(size, count, self._free())

    def _free(self) -> int | None:
        """Bytes that are free on the engine's disk, None where this host cannot tell."""
        return None if self._root is None else free_bytes(self._root)


def free_bytes(folder: Path) -> int | None:
    """Bytes that are free where a folder lies, None where that cannot be told."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize


def _tree(top: Path, most: int) -> tuple[int, int]:
    """Add up the bytes and count the entries below a folder, in which others may be at work."""
    size = count = 0
    linked: Seen = set()
    folder = os.open(top, FLAGS)
    try:
        for each in entries_below(folder):
            count += 1
            if count > most:
                break
            with contextlib.suppress(FileNotFoundError):
                found = each.stat(follow_symlinks=False)
                if found.st_nlink == 1 or stat.S_ISDIR(found.st_mode) or _first(found, linked):
                    size += found.st_blocks * BLOCK
    finally:
        os.close(folder)
    return size, count


def _unnamed(init: int) -> int:
    """Add up the files without a name that processes of the container of `init` hold open.

    Only those of its root file system count: what lies in memory is limited as memory.
    """
    size = 0
    seen: Seen = set()
    with contextlib.suppress(OSError):
        device = Path(f"/proc/{init}/root").stat().st_dev
        for process in _processes(init):
            with contextlib.suppress(OSError):
                size += sum(_sizes(Path(f"/proc/{process}/fd"), device, seen))
    return size


def _processes(init: int) -> Iterator[int]:
    """Give a first process and all below it: to look at every process of a host takes too long."""
    pending = [init]
    while pending:
        process = pending.pop()
        yield process
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{process}/task").iterdir():
                with contextlib.suppress(OSError):
                    pending += map(int, (thread / "children").read_text().split())


def _sizes(descriptors: Path, device: int, seen: Seen) -> Iterator[int]:
    """Give the bytes of files without a name among a process's descriptors."""
    for each in descriptors.iterdir():
        with contextlib.suppress(OSError):
            found = each.stat()
            unnamed = stat.S_ISREG(found.st_mode) and not found.st_nlink
            if unnamed and found.st_dev == device and _first(found, seen):
                yield found.st_blocks * BLOCK


def _first(found: os.stat_result, seen: Seen) -> bool:
    """Whether a file is met for the first time, by whatever name."""
    key = found.st_dev, found.st_ino
    if key in seen:
        return False
    seen.add(key)
    return True
