"""Experiments: a plan of runs, and a journal by which each cell is done exactly once.

    runs/experiments/<name>/plan.json     what is to be run
                            journal.jsonl  each run as it begins and as it ends
                            .lock          held by the process that works at it

A run is noted before its folder is made. Whatever ends the process, the journal then names every
run that may have begun, and that run's own folder says whether it came to an end.
"""

import fcntl
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from sandbox.model.errors import StoreError, UsageError
from sandbox.model.experiment import Line, Plan
from sandbox.model.grade import Verdict
from sandbox.model.job import Job, JobResult
from sandbox.model.run_folder import RunFolder, write_whole
from sandbox.model.store import Store
from sandbox.run import dead_runs

FOLDER = "experiments"
NAME_LETTERS = 8


class Experiment:
    """One experiment's folder."""

    def __init__(self, path: Path, store: Store) -> None:
        self.path = path
        self._store = store
        self._journal = path / "journal.jsonl"
        self._writing = threading.Lock()
        self._held: int | None = None
        self.plan = self._read()
        self._numbers = {cell: number for number, cell in enumerate(self.plan.cells)}

    @property
    def name(self) -> str:
        """How it is called."""
        return self.path.name

    def hold(self) -> None:
        """Work at it alone until `let_go`; UsageError where another process does."""
        self._held = os.open(self.path / ".lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.let_go()
            raise UsageError(
                f"Another process works at the experiment {self.name}.", "Wait until it has ended."
            ) from error

    def let_go(self) -> None:
        """Let others work at it."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def begins(self, job: Job, folder: RunFolder) -> None:
        """Note that a run of a cell begins; its folder is not there yet."""
        self._note(Line(cell=self._numbers[job], run=folder.id))

    def over(self, result: JobResult) -> None:
        """Note what a run of a cell has come to."""
        if result.run is not None and result.verdict is not None:
            cell = self._numbers[result.job]
            self._note(
                Line(cell=cell, run=result.run, verdict=result.verdict, crashed=result.crashed)
            )

    def done(self) -> list[JobResult]:
        """Give the results of the cells that are over; errors are not, they may be tried again."""
        found: dict[int, JobResult] = {}
        begun: dict[str, int] = {}
        for line in self._lines():
            begun[line.run] = line.cell
            if line.verdict is not None:
                del begun[line.run]
                self._take(found, line)
        for run, cell in begun.items():
            if (end := self._end_of(run, cell)) is not None:
                self._take(found, end)
        return [found[cell] for cell in sorted(found)]

    def runs(self) -> dict[int, str]:
        """Give the newest run of each cell that was begun, by the cell's place in the plan."""
        return {line.cell: line.run for line in self._lines()}

    def left(self) -> list[Job]:
        """Give the cells that are still to be done, in the order of the plan."""
        over = {result.job for result in self.done()}
        return [cell for cell in self.plan.cells if cell not in over]

    def _take(self, found: dict[int, JobResult], end: Line) -> None:
        if end.cell not in found and end.verdict is not Verdict.ERROR:
            job = self.plan.cells[end.cell]
            found[end.cell] = JobResult(
                job=job, run=end.run, verdict=end.verdict, crashed=end.crashed
            )

    def _end_of(self, run: str, cell: int) -> Line | None:
        """Say what became of a run that the journal has no end of; None where it never began."""
        folder = self._store.folder(run)
        dead_runs.bury([folder])
        try:
            record = folder.record()
        except StoreError:
            return None
        if record.verdict is None:
            return None
        return Line(cell=cell, run=run, verdict=record.verdict, crashed=record.crashed)

    def _note(self, line: Line) -> None:
        text = line.model_dump_json() + "\n"
        with self._writing:
            try:
                with self._journal.open("ab") as file:
                    # What a kill has cut short ends here, and is passed over.
                    file.write(("\n" if self._is_torn() else "").encode() + text.encode())
            except OSError as error:
                raise StoreError(
                    f"{self._journal} cannot be written: {error.strerror}.",
                    "Make room, then give the same command again: it goes on where it stopped.",
                ) from error

    def _is_torn(self) -> bool:
        with self._journal.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            return file.read(1) not in (b"", b"\n")

    def _lines(self) -> Iterator[Line]:
        if not self._journal.exists():
            return
        for text in self._journal.read_bytes().splitlines():
            try:
                line = Line.model_validate_json(text)
            except ValidationError:
                continue  # cut short by a kill; the run that it spoke of was never begun
            if line.cell < len(self.plan.cells):
                yield line

    def _read(self) -> Plan:
        path = self.path / "plan.json"
        try:
            return Plan.model_validate_json(path.read_bytes())
        except FileNotFoundError as error:
            raise UsageError(f"There is no experiment {self.name}.") from error
        except (OSError, ValidationError) as error:
            raise StoreError(f"{path} cannot be read: {error}") from error


def named(store: Store) -> list[Experiment]:
    """Give the experiments of a store that can be read, the newest first."""
    found = []
    for path in (store.root / FOLDER).glob("*/plan.json"):
        with suppress(StoreError):
            found.append(Experiment(path.parent, store))
    return sorted(found, key=lambda each: (each.plan.created, each.name), reverse=True)


def find(store: Store, name: str) -> Experiment | None:
    """Give the experiment of a name, None where there is none."""
    path = store.root / FOLDER / name
    known = "/" not in name and (path / "plan.json").exists()
    return Experiment(path, store) if known else None


def opened(store: Store, plan: Plan, name: str | None) -> Experiment:
    """Give the experiment of a plan: the one that has still cells to be done, else a new one.

    UsageError where one of that name has another plan.
    """
    if name is not None:
        path = store.root / FOLDER / _checked(name)
        if not (path / "plan.json").exists():
            return _made(path, store, plan)
        found = Experiment(path, store)
        if found.plan.digest != plan.digest:
            raise UsageError(
                f"The experiment {name} is another one: {_difference(found.plan, plan)}.",
                "Give this one another name. What was run under that name stays as it is.",
            )
        return found
    for each in named(store):
        if each.plan.digest == plan.digest and each.left():
            return each
    first = plan.digest[:NAME_LETTERS]
    number = 1
    while (store.root / FOLDER / _numbered(first, number)).exists():
        number += 1
    return _made(store.root / FOLDER / _numbered(first, number), store, plan)


def moment() -> str:
    """Give the time at which a plan is made."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _numbered(first: str, number: int) -> str:
    return first if number == 1 else f"{first}-{number}"


def _made(path: Path, store: Store, plan: Plan) -> Experiment:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be made: {error.strerror}.", "Make room.") from error
    write_whole(path / "plan.json", plan.model_dump_json(indent=1).encode() + b"\n")
    return Experiment(path, store)


def _checked(name: str) -> str:
    if not name or name.startswith(".") or "/" in name or len(name) > 100:
        raise UsageError(f"{name!r} cannot name an experiment.", "Use letters, digits and `-`.")
    return name


def _difference(old: Plan, new: Plan) -> str:
    """Say in a few words what tells two plans apart."""

    def parts(cells: Sequence[Job]) -> dict[str, set[object]]:
        return {
            "tasks": {cell.task for cell in cells},
            "versions of tasks": {(cell.task, cell.task_digest) for cell in cells},
            "agents": {(cell.agent, cell.mode) for cell in cells},
            "versions of agents": {(cell.agent, cell.version) for cell in cells},
            "trials": {cell.trial for cell in cells},
        }

    before, after = parts(old.cells), parts(new.cells)
    for what, known in before.items():
        if known != after[what]:
            return f"its {what} are others"
    return "its options are others"
