"""Run folders: what is stored of a run, under which name, and an index to list them.

    runs/checks/<id>      the same for runs by which the harness proves tasks
    runs/<id>/run.json          what was run, with what, and the verdict
              trace.jsonl       the host's record of the run
              changes.json      what differed in the container at the end
              changes.patch     the same as text, for people
              candidate.tar.zst what crossed into grading
              tests.json        what the hidden tests did
              grade.json        the verdict with its reasons
              agent.log         what the agent wrote to standard error; a claim, not evidence
              calls             the socket of a session that is open
              agent.out         what a client of the MCP server printed; a claim as well
              mcp.sock          the MCP server, while the run goes on
              .live             locked by the process that runs it

Each file is written under a temporary name and renamed. The index is derived: it is made anew
from the folders whenever it is missing or broken.
"""

import fcntl
import hashlib
import os
import re
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from sandbox.model.errors import EvidenceError, StoreError, UsageError
from sandbox.model.grade import Verdict
from sandbox.model.run import RunRecord
from sandbox.model.task import alias

T = TypeVar("T", bound=BaseModel)

RESERVE = 32 << 10
INDEX = "index.sqlite"
CHECKS = "checks"
CALLS = "calls"
TABLE = (
    "CREATE TABLE IF NOT EXISTS runs"
    " (id TEXT PRIMARY KEY, started TEXT NOT NULL, task TEXT NOT NULL)"
)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old one or the whole new one.

    Raises StoreError, for example where the disk is full; the old file is then untouched.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StoreError(
            f"{path} cannot be written: {error.strerror}. What was there before is untouched.",
            "Make room or choose another place with --runs.",
        ) from error


class RunFolder:
    """One run's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trace = path / "trace.jsonl"
        self.changes = path / "changes.json"
        self.patch = path / "changes.patch"
        self.candidate = path / "candidate.tar.zst"
        self.tests = path / "tests.json"
        self.grade = path / "grade.json"
        self.agent_log = path / "agent.log"
        self.calls = path / CALLS
        self.agent_output = path / "agent.out"
        self.mcp_socket = path / "mcp.sock"
        self._reserve = path / ".reserve"
        self._live = path / ".live"
        self._held: int | None = None

    @property
    def id(self) -> str:
        """The run's name."""
        return self.path.name

    @property
    def evidence(self) -> tuple[Path, ...]:
        """The files that a grade is made of."""
        return self.trace, self.changes, self.candidate, self.tests

    def seal(self) -> None:
        """Note what the evidence is, now that it is whole."""
        digests = {path.name: self._digest(path) for path in self.evidence}
        self.save_record(self.record().model_copy(update={"evidence": digests}))

    def verify(self, record: RunRecord) -> None:
        """Make sure that the evidence is what was sealed, as the run's record says.

        StoreError where a file is missing, EvidenceError where one was altered since.
        """
        sealed = record.evidence
        found = {path: self._digest(path) for path in self.evidence}
        for path, digest in found.items():
            if digest != sealed.get(path.name):
                raise EvidenceError(
                    f"{path} was altered: its SHA-256 is not that in run.json. Nothing was graded.",
                    "Run the task again; evidence that was altered cannot be trusted.",
                )

    def reserve(self) -> None:
        """Hold room for what is said at the end, should the disk be full by then."""
        write_whole(self._reserve, bytes(RESERVE))

    def release(self) -> None:
        """Give that room free."""
        with suppress(OSError):
            self._reserve.unlink()

    def seal_grade(self, verdict: Verdict) -> None:
        """Note which grade was stored, and its verdict, beside what the evidence is."""
        known = {"grade": self._digest(self.grade), "verdict": verdict}
        self.save_record(self.record().model_copy(update=known))

    def objection(self, record: RunRecord) -> str:
        """Say why evidence or grade of a graded run is not what was stored; empty where it is.

        Runs of 0.1 have no seals of their own, and are believed.
        """
        try:
            if record.evidence:
                self.verify(record)
            if record.grade and self._digest(self.grade) != record.grade:
                return f"{self.grade} was altered: its SHA-256 is not that in run.json."
        except (EvidenceError, StoreError) as error:
            return error.message
        return ""

    def hold(self) -> None:
        """Say, for as long as this process lives or until `let_go`, that the run goes on."""
        self._held = os.open(self._live, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        fcntl.flock(self._held, fcntl.LOCK_EX)

    def let_go(self) -> None:
        """Say that the run has come to its end."""
        with suppress(OSError):
            self._live.unlink()
        if self._held is not None:
            os.close(self._held)
            self._held = None

    @property
    def is_live(self) -> bool:
        """Whether a process, here or elsewhere, still holds the run."""
        try:
            with self._live.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def record(self) -> RunRecord:
        """What `run.json` says."""
        return self.load(self.path / "run.json", RunRecord)

    def text(self, path: Path) -> str:
        """Read a text file back; StoreError where it is missing."""
        return self._bytes(path).decode("utf-8", "replace")

    def save(self, path: Path, value: BaseModel) -> None:
        """Store a record as JSON."""
        write_whole(path, value.model_dump_json(indent=1).encode() + b"\n")

    def save_record(self, record: RunRecord) -> None:
        """Store what is known of the run by now."""
        self.save(self.path / "run.json", record)

    def load(self, path: Path, model: type[T]) -> T:
        """Read a record back; StoreError where it is missing or not what it should be."""
        try:
            return model.model_validate_json(self._bytes(path))
        except ValidationError as error:
            raise StoreError(f"{path} cannot be read: {error}", "Run the task again.") from error

    def _digest(self, path: Path) -> str:
        return hashlib.sha256(self._bytes(path)).hexdigest()

    def _bytes(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except FileNotFoundError as error:
            raise StoreError(
                f"Run {self.id} has no {path.name}: it ended before that was written.",
                "`sandbox show` says how it ended.",
            ) from error
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}.") from error


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
        """All runs, newest first."""
        with self._index() as index:
            rows = index.execute("SELECT id FROM runs ORDER BY started DESC, rowid DESC").fetchall()
        for (run,) in rows:
            if (self.root / run).is_dir():
                yield RunFolder(self.root / run)

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
        with self._index() as index:
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
        for path in sorted(self.root.glob("*/run.json")):
            try:
                self._add(index, RunFolder(path.parent).record())
            except StoreError:
                continue  # a folder that cannot be read stays where it is, unlisted

    def _add(self, index: sqlite3.Connection, record: RunRecord) -> None:
        index.execute(
            "INSERT OR REPLACE INTO runs (id, started, task) VALUES (?, ?, ?)",
            (record.id, record.started, record.task),
        )
