"""Temporary folders of this host: gone with their use, or found by whoever cleans up after a kill.

A folder is locked (flock(2), on the folder itself) for as long as its process lives.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sandbox.model.errors import StoreError

PREFIX = "sandbox-"
YOUNG_SECONDS = 60.0
"""A folder that is not locked may have been made just now."""

FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Scratch:
    """A folder of ours alone (mode 0700); StoreError where it cannot be made."""

    def __init__(self, purpose: str) -> None:
        try:
            self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{purpose}-"))
            self._lock = os.open(self.path, FLAGS)
        except OSError as error:
            raise StoreError(
                f"No temporary folder can be made: {error.strerror}.",
                "Make room there, or set TMPDIR to another folder.",
            ) from error
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def close(self) -> None:
        """Remove it with all that it holds."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def sweep() -> list[Path]:
    """Remove the folders of processes that are gone; say which."""
    removed = []
    for folder in _ours():
        with contextlib.suppress(OSError):
            lock = os.open(folder, FLAGS)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
                removed.append(folder)
            finally:
                os.close(lock)
    return removed


def _ours() -> Iterator[Path]:
    """Give this user's folders that are not quite new."""
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
        with contextlib.suppress(OSError):
            found = folder.lstat()
            if found.st_uid == os.geteuid() and found.st_mtime < time.time() - YOUNG_SECONDS:
                yield folder
