"""All runs below one folder, and an index to list them.

The index is derived: it is made anew from the run folders whenever it is missing or broken.
"""

import os
import re
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from sandbox.model.alias import alias
from sandbox.model.errors import StoreError, UsageError
from sandbox.model.run import RunRecord
from sandbox.model.run_folder import CALLS, RunFolder

INDEX = "index.sqlite"
CHECKS = "checks"
TABLE = (
    "CREATE TABLE IF NOT EXISTS runs"
    " (id TEXT PRIMARY KEY, started TEXT NOT NULL, task TEXT NOT NULL)"
)


class Store:
    """All runs below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def checks(self) -> "Store":
        """The runs by which the harness proves tasks: no results, and never `last`."""
        return Store(self.root / CHECKS)

    def new_id(self, task: str) -> str:
        """Name a run: eight hexadecimal digits, so that a short prefix is unique, and its task.

        The agent is told it; a variant has the name that the agent knows it by.
        """
        return f"{secrets.token_hex(4)}-{re.sub('[^a-z0-9.]+', '-', alias(task))}"

    def create(self, record: RunRecord) -> RunFolder:
        """Make a run's folder and put it into the index."""
        folder = self.folder(record.id)
        try:
            folder.path.mkdir(parents=True)
        except OSError as error:
            raise StoreError(
                f"{folder.path} cannot be made: {error.strerror}.",
                "Make room or choose another place with --runs.",
            ) from error
        folder.hold()
        folder.reserve()
        folder.save_record(record)
        with self._index() as index:
            self._add(index, record)
        return folder

    def folder(self, run: str) -> RunFolder:
        """The folder of a run, whether it is there or not."""
        return RunFolder(self.root / run)

    def folders(self) -> Iterator[RunFolder]:
        """All runs, newest first; StoreError where the folder cannot be read."""
        there = self._there()
        try:
            with self._index() as index:
                listed = self._listed(index, there)
        except StoreError:  # on a disk that is full or read-only; the folders say the same
            with closing(sqlite3.connect(":memory:")) as index:
                index.execute(TABLE)
                listed = self._listed(index, there)
        for run in listed:
            if run in there:
                yield RunFolder(self.root / run)

    def _listed(self, index: sqlite3.Connection, there: set[str]) -> list[str]:
        """Give the names of all runs, newest first, once the index has those that are there."""
        known = {run for (run,) in index.execute("SELECT id FROM runs")}
        for run in sorted(there - known):  # whose process was killed before it had put it there
            self._take_in(index, run)
        rows = index.execute("SELECT id FROM runs ORDER BY started DESC, rowid DESC")
        return [run for (run,) in rows]

    def unbegun(self) -> Iterator[RunFolder]:
        """Folders of runs whose process was killed before it had written of them anything."""
        for run in sorted(self._there()):
            folder = RunFolder(self.root / run)
            if folder.is_unbegun and not folder.is_live:
                yield folder

    def _there(self) -> set[str]:
        """The names of the folders there are."""
        try:
            with os.scandir(self.root) as entries:
                return {each.name for each in entries if each.name != CHECKS and each.is_dir()}
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise StoreError(f"{self.root} cannot be read: {error.strerror}.") from error

    def all_folders(self) -> Iterator[RunFolder]:
        """As `folders`, and then those of `checks`."""
        yield from self.folders()
        if self.checks.root.is_dir():
            yield from self.checks.folders()

    def called(self) -> list[RunFolder]:
        """The runs that are open to calls, or were when their process was ended."""
        return [RunFolder(path.parent) for path in sorted(self.root.glob(f"*/{CALLS}"))]

    def find(self, name: str) -> RunFolder:
        """The run that `last` or a unique prefix names; UsageError where there is none."""
        if name == "last" and (newest := next(self.folders(), None)):
            return newest
        found = [folder for folder in self.all_folders() if folder.id.startswith(name)]
        exact = [folder for folder in found if folder.id == name]
        if len(exact or found) == 1:
            return (exact or found)[0]
        if found:
            ids = ", ".join(folder.id for folder in found[:5])
            raise UsageError(f"{len(found)} runs start with `{name}`: {ids}", "Type more of it.")
        known = ", ".join(folder.id for _, folder in zip(range(5), self.folders(), strict=False))
        raise UsageError(
            f"No run in {self.root} is named `{name}`.",
            f"The newest are: {known}." if known else "Start one: sandbox run TASK --agent CMD.",
        )

    def remove(self, folder: RunFolder) -> None:
        """Delete a run and all that is stored of it."""
        shutil.rmtree(folder.path, ignore_errors=True)
        # A row without a folder is passed over.
        with suppress(StoreError), self._index() as index:
            index.execute("DELETE FROM runs WHERE id = ?", (folder.id,))

    @contextmanager
    def _index(self) -> Iterator[sqlite3.Connection]:
        """The index inside a transaction, made from the folders where it is missing or broken."""
        path = self.root / INDEX
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            fresh = not path.exists()
            try:
                index = self._open(path)
            except sqlite3.OperationalError:
                raise  # locked, full or read-only: nothing is wrong with what it holds
            except sqlite3.DatabaseError:
                path.replace(path.with_suffix(".broken"))
                fresh = True
                index = self._open(path)
            with closing(index), index:
                if fresh:
                    self._rebuild(index)
                yield index
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"The index of runs, {path}, cannot be used: {error}",
                "The run folders are untouched. Delete the index: it is made anew from them.",
            ) from error

    def _open(self, path: Path) -> sqlite3.Connection:
        index = sqlite3.connect(path, timeout=30)
        try:
            index.execute(TABLE)
        except sqlite3.Error:
            index.close()
            raise
        return index

    def _rebuild(self, index: sqlite3.Connection) -> None:
        for run in sorted(self._there()):
            self._take_in(index, run)

    def _take_in(self, index: sqlite3.Connection, run: str) -> None:
        """Put a run into the index; one that cannot be read stays where it is, unlisted."""
        with suppress(StoreError):
            self._add(index, RunFolder(self.root / run).record())

    def _add(self, index: sqlite3.Connection, record: RunRecord) -> None:
        index.execute(
            "INSERT OR REPLACE INTO runs (id, started, task) VALUES (?, ?, ?)",
            (record.id, record.started, record.task),
        )
