"""The journal of an experiment: a line for each run as it begins and as it ends.

Several processes may write it at once, one after the other.
"""

import fcntl
import os
from pathlib import Path

from pydantic import ValidationError

from sandbox.model.errors import StoreError
from sandbox.model.experiment import Line
from sandbox.model.verdict import Verdict


class Journal:
    """One journal, and what it says as far as it was read."""

    def __init__(self, path: Path, cells: int) -> None:
        """`cells` is how many the plan has; lines about others are passed over."""
        self._path = path
        self._cells = cells
        self._size = 0
        """Bytes that were read."""
        self.begun: dict[str, int] = {}
        """The cells of runs that have no end in the journal."""
        self.every: dict[str, int] = {}
        """The cells of all runs."""
        self.newest: dict[int, str] = {}
        """The newest run of each cell."""
        self.over: dict[int, Line] = {}
        """The first end of each cell that is not an error."""

    def note(self, line: Line) -> None:
        """Write one more line; StoreError where that cannot be done."""
        text = line.model_dump_json() + "\n"
        try:
            with self._path.open("ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                # What a kill has cut short ends here, and is passed over.
                file.write(("\n" if self._is_torn() else "").encode() + text.encode())
        except OSError as error:
            raise StoreError(
                f"{self._path} cannot be written: {error.strerror}.",
                "Make room, then give the same command again: it goes on where it stopped.",
            ) from error

    def read_on(self) -> None:
        """Take in what it says beyond what was read."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._size)
                added = file.read()
        except FileNotFoundError:
            return
        for text in added.splitlines(keepends=True):
            try:
                line = Line.model_validate_json(text)
            except ValidationError:
                if not text.endswith(b"\n"):
                    return  # cut short by a kill, or still being written
            else:
                if line.cell < self._cells:
                    self._take(line)
            self._size += len(text)

    def _is_torn(self) -> bool:
        with self._path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            return file.read(1) not in (b"", b"\n")

    def _take(self, line: Line) -> None:
        self.newest[line.cell] = line.run
        self.every[line.run] = line.cell
        if line.verdict is None:
            self.begun[line.run] = line.cell
            return
        self.begun.pop(line.run, None)
        if line.verdict is not Verdict.ERROR:
            self.over.setdefault(line.cell, line)
