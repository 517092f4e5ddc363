"""Which cells of an experiment are being done, and by whom: one process at a time each.

A claim is a file that its process holds locked (flock), so it ends with that process, however that
ends. Processes may run on several machines, where these share the folder of runs.
"""

import fcntl
import os
from pathlib import Path

from sandbox.model.errors import StoreError


class Claims:
    """The claims of an experiment, with those of this process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[int, int] = {}
        """Descriptors, by the cell's place in the plan."""

    def take(self, cell: int) -> bool:
        """Claim a cell; False where somebody else has it. StoreError where nobody can."""
        path = self._path(cell)
        try:
            self._folder.mkdir(exist_ok=True)
            while True:
                held = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
                if not _locked(held, fcntl.LOCK_EX):
                    os.close(held)
                    return False
                if _is_at(held, path):
                    self._held[cell] = held
                    return True
                os.close(held)  # whoever had it has removed it meanwhile
        except OSError as error:
            raise StoreError(
                f"{path} cannot be written: {error.strerror}.",
                "Make room, then give the same command again: it goes on where it stopped.",
            ) from error

    def release(self, cell: int) -> None:
        """Let others have a cell that this process has, if it has it."""
        held = self._held.pop(cell, None)
        if held is not None:
            self._path(cell).unlink(missing_ok=True)
            os.close(held)

    def release_all(self) -> None:
        """Let others have all of them."""
        for cell in list(self._held):
            self.release(cell)

    def is_elsewhere(self, cell: int) -> bool:
        """Whether another process has a cell now."""
        if cell in self._held:
            return False
        try:
            looked = os.open(self._path(cell), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            return not _locked(looked, fcntl.LOCK_SH)
        finally:
            os.close(looked)

    def _path(self, cell: int) -> Path:
        return self._folder / str(cell)


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether a file that is open still has its name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
