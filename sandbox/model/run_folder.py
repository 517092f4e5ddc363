"""One run's folder: each file is written under a temporary name and renamed.

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
"""

import fcntl
import hashlib
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from sandbox.model.errors import EvidenceError, StoreError, UsageError
from sandbox.model.run import RunRecord
from sandbox.model.verdict import Verdict

T = TypeVar("T", bound=BaseModel)

RESERVE = 32 << 10
UNSEALED = "0.1."
"""How the versions begin whose runs have no seals."""
HALF_WRITTEN = re.compile(r"\.[a-z.]+\.[0-9a-f]{8}")
"""The temporary names of `write_whole`."""
CALLS = "calls"
BEGINNING = (".live", ".reserve")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old one or the whole new one.

    Raises StoreError, for example where the disk is full; the old file is then untouched.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):  # which a read-only file system answers with an error as well
            temporary.unlink()
        raise StoreError(
            f"{path} cannot be written: {error.strerror}. What was there before is untouched.",
            "Make room or choose another place with --runs.",
        ) from error


class RunFolder:
    """One run's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held: int | None = None

    @property
    def trace(self) -> Path:
        """The host's record of the run."""
        return self.path / "trace.jsonl"

    @property
    def changes(self) -> Path:
        """What differed in the container at the end."""
        return self.path / "changes.json"

    @property
    def patch(self) -> Path:
        """The same as text."""
        return self.path / "changes.patch"

    @property
    def candidate(self) -> Path:
        """What crossed into grading."""
        return self.path / "candidate.tar.zst"

    @property
    def tests(self) -> Path:
        """What the hidden tests did."""
        return self.path / "tests.json"

    @property
    def grade(self) -> Path:
        """The verdict with its reasons."""
        return self.path / "grade.json"

    @property
    def agent_log(self) -> Path:
        """What the agent wrote to standard error."""
        return self.path / "agent.log"

    @property
    def calls(self) -> Path:
        """The socket of a session that is open."""
        return self.path / CALLS

    @property
    def agent_output(self) -> Path:
        """What a client printed."""
        return self.path / "agent.out"

    @property
    def mcp_socket(self) -> Path:
        """The MCP server, while the run goes on."""
        return self.path / "mcp.sock"

    @property
    def _reserve(self) -> Path:
        return self.path / ".reserve"

    @property
    def _live(self) -> Path:
        return self.path / ".live"

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

        The grades of 0.1 have no seal of their own, and are believed.
        """
        sealed = not record.sandbox_version.startswith(UNSEALED)
        try:
            if record.evidence:
                self.verify(record)
            elif sealed and record.verdict is not Verdict.ERROR:
                return f"{self.path / 'run.json'} was altered: it says nothing of the evidence."
            if sealed and not record.grade:
                return f"{self.path / 'run.json'} was altered: it says nothing of the grade."
            if record.grade and self._digest(self.grade) != record.grade:
                return f"{self.grade} was altered: its SHA-256 is not that in run.json."
        except (EvidenceError, StoreError) as error:
            return error.message
        return ""

    def hold(self) -> None:
        """Say, for as long as this process lives or until `let_go`, that the run goes on."""
        self._held = os.open(self._live, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        fcntl.flock(self._held, fcntl.LOCK_EX)

    def tidy(self) -> None:
        """Remove what a process that was killed was just writing."""
        for path in self.path.glob(".*"):
            if HALF_WRITTEN.fullmatch(path.name):
                with suppress(OSError):
                    path.unlink()

    def let_go(self) -> None:
        """Say that the run has come to its end."""
        with suppress(OSError):
            self._live.unlink()
        if self._held is not None:
            os.close(self._held)
            self._held = None

    @property
    def is_unbegun(self) -> bool:
        """Whether it holds what a run's folder begins with, and not yet what is run."""
        names = {path.name for path in self.path.iterdir()} if self.path.is_dir() else set()
        begun = {
            each for each in names if each not in BEGINNING and not HALF_WRITTEN.fullmatch(each)
        }
        return bool(names) and not begun

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

    def ended_record(self) -> RunRecord:
        """The same of a run that is over; UsageError where it goes on."""
        record = self.record()
        if record.ended is None:
            raise UsageError(f"The run {record.id} has not ended.", "Wait for it, or end it.")
        return record

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
