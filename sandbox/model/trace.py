"""A run's record: JSON lines that are appended as things happen, each chained to the one before.

A line is an `Entry` as canonical JSON (keys sorted, no spaces, ASCII), with `digest` and
`previous` last. The digest is SHA-256, in hexadecimal, over the previous line's digest followed
by the canonical JSON of the other fields.
"""

import errno
import gc
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from sandbox.model.errors import EvidenceError, StoreError
from sandbox.model.event import Entry, Event, RunEnded, RunStarted

START = hashlib.sha256(b"").hexdigest()
"""What the first line is chained to."""

_CHAIN = ',"digest":"{}","previous":"{}"}}'
_CHAIN_LENGTH = len(_CHAIN.format(START, START))

Listener = Callable[[Entry], None]


class TraceWriter:
    """Appends events to a new file. Safe to use from several threads."""

    def __init__(self, path: Path, listener: Listener | None = None) -> None:
        """Make the file; StoreError where it exists or cannot be made.

        `listener` gets every entry once it is written, in order, in the thread that appends.
        """
        self.path = path
        self._listener = listener
        self._lock = threading.Lock()
        self._end = _End(0, 0, START)
        self.started = time.monotonic()
        """When `elapsed` of all entries began."""
        try:
            self._file = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644
            )
        except OSError as error:
            raise StoreError(
                f"{path}: the trace cannot be made: {error.strerror}",
                "Check that the folder can be written and holds no such file.",
            ) from error

    def append(self, event: Event, action_id: str | None = None) -> Entry:
        """Write an event as the next line; StoreError where it cannot be written.

        After an error the file ends with the last whole line; a line whose writing was interrupted
        goes when the next one is written.
        """
        data = event.model_dump(mode="json")
        with self._lock:
            entry = self._next(event, data, action_id)
            if self._listener is not None:
                self._listener(entry)
        return entry

    def close(self) -> None:
        """Bring the file to the disk and close it; nothing happens the second time."""
        with self._lock:
            if self._file < 0:
                return
            try:
                os.fsync(self._file)
            except OSError as error:
                raise _refusal(self.path, error) from error
            finally:
                os.close(self._file)
                self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _next(self, event: Event, data: dict[str, object], action_id: str | None) -> Entry:
        wall_time = datetime.now(UTC).isoformat(timespec="microseconds")
        elapsed = round(time.monotonic() - self.started, 6)
        end = self._end
        body = canonical(
            {
                "action_id": action_id,
                "elapsed": elapsed,
                "event": data,
                "sequence": end.sequence,
                "wall_time": wall_time,
            }
        )
        digest = _digest(end.previous, body.encode())
        line = f"{body[:-1]}{_CHAIN.format(digest, end.previous)}\n".encode()
        self._write(line, end.size)
        entry = Entry(
            sequence=end.sequence,
            wall_time=wall_time,
            elapsed=elapsed,
            action_id=action_id,
            event=event,
            previous=end.previous,
            digest=digest,
        )
        # One assignment: an interrupt comes before it or after it.
        self._end = _End(end.sequence + 1, end.size + len(line), digest)
        return entry

    def _write(self, line: bytes, size: int) -> None:
        if self._file < 0:
            raise StoreError(f"{self.path}: the trace is closed; the event was not recorded.")
        try:
            if os.fstat(self._file).st_size != size:
                os.ftruncate(self._file, size)
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            os.ftruncate(self._file, size)
            raise _refusal(self.path, error) from error


@dataclass(frozen=True, slots=True)
class _End:
    """Where a trace ends for now."""

    sequence: int
    size: int
    previous: str


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace that was read: every entry before the first problem."""

    entries: tuple[Entry, ...]
    problem: str
    """What is wrong and where; empty where the trace is whole."""
    unended: bool = False
    """Whether nothing is wrong but that the run has no end, as that of one that goes on."""


def read(path: Path) -> Trace:
    """Read a trace and verify its chain; StoreError where the file cannot be read."""
    entries: list[Entry] = []
    previous, ended = START, False
    try:
        with path.open("rb") as file, collection_paused():
            for number, line in enumerate(file, 1):
                entry, problem = _verified(line, number, previous)
                if ended and not problem:
                    problem = "follows the end of the run"
                if entry is None or problem:
                    return Trace(tuple(entries), f"line {number} {problem}")
                entries.append(entry)
                previous, ended = entry.digest, entry.event.kind == "run_ended"
    except OSError as error:
        raise StoreError(
            f"{path}: the trace cannot be read: {error.strerror}",
            "Check the path and its permissions.",
        ) from error
    missing = _end_problem(entries)
    return Trace(tuple(entries), missing, unended=missing != "")


def whole(path: Path) -> tuple[Entry, ...]:
    """Read a trace that has to be whole; EvidenceError where it is not, StoreError as `read`."""
    found = read(path)
    if found.problem:
        raise EvidenceError(
            f"The trace of {path.parent.name} is not whole: {found.problem}",
            "Evidence that was altered cannot be trusted; take another run.",
        )
    return found.entries


@contextmanager
def collection_paused() -> Iterator[None]:
    """Look for no cycles meanwhile: entries have none, and looking takes most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def canonical(value: object) -> str:
    """JSON with sorted keys, no spaces, ASCII; ValueError for numbers that JSON does not have."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _verified(line: bytes, number: int, previous: str) -> tuple[Entry | None, str]:
    """Read one line; the entry, or what is wrong with it."""
    if not line.endswith(b"\n"):
        return None, "is truncated"
    line = line[:-1]
    try:
        entry = Entry.model_validate_json(line)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in details["loc"])
        if details["type"] == "json_invalid":
            return None, "is not JSON"
        return None, f"is not an entry of a trace: {where}: {details['msg']}"
    if entry.sequence != number - 1:
        return None, (
            f"has the sequence number {entry.sequence} in place of {number - 1}: "
            "lines are missing, repeated or in another order"
        )
    if number == 1 and not isinstance(entry.event, RunStarted):
        return None, f"does not start a run: it is {entry.event.kind}"
    if number > 1 and isinstance(entry.event, RunStarted):
        return None, "starts a run a second time"
    body = line[:-_CHAIN_LENGTH] + b"}"
    chain = _CHAIN.format(entry.digest, entry.previous).encode()
    if not line.endswith(chain) or _digest(entry.previous, body) != entry.digest:
        return None, "was altered: its digest is not that of its content"
    if entry.previous != previous:
        return None, "does not follow the line before: one of the two was replaced"
    return entry, ""


def _end_problem(entries: list[Entry]) -> str:
    if not entries:
        return "the trace is empty: it does not start with run_started"
    last = entries[-1].event
    if not isinstance(last, RunEnded):
        return f"the trace does not end with run_ended but with {last.kind}, line {len(entries)}"
    return ""


def _digest(previous: str, body: bytes) -> str:
    return hashlib.sha256(previous.encode() + body).hexdigest()


def _refusal(path: Path, error: OSError) -> StoreError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreError(
            f"{path}: the disk is full; the trace ends with the event before.",
            "Make room (`sandbox gc` removes what is not needed) and run again.",
        )
    return StoreError(f"{path}: the trace cannot be written: {error.strerror}")
