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
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from sandbox.model.errors import StoreError, UsageError
from sandbox.model.experiment import Line, Plan
from sandbox.model.job import Job, JobResult
from sandbox.model.run_folder import RunFolder, write_whole
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
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
        self._known = _Known()
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
        over = self._over()
        return [
            JobResult(
                job=self.plan.cells[cell],
                run=over[cell].run,
                verdict=over[cell].verdict,
                crashed=over[cell].crashed,
            )
            for cell in sorted(over)
        ]

    def runs(self) -> dict[int, str]:
        """Give the newest run of each cell that was begun, by the cell's place in the plan."""
        self._read_on()
        return self._known.newest

    def left(self) -> list[Job]:
        """Give the cells that are still to be done, in the order of the plan."""
        over = self._over()
        return [cell for number, cell in enumerate(self.plan.cells) if number not in over]

    def _over(self) -> dict[int, Line]:
        """Give the first end of each cell that is not an error."""
        self._read_on()
        over = dict(self._known.over)
        for run, cell in self._known.begun.items():
            if (end := self._end_of(run, cell)) is not None and end.verdict is not Verdict.ERROR:
                over.setdefault(cell, end)
        return over

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

    def _read_on(self) -> None:
        """Take in what the journal says beyond what is known of it."""
        try:
            with self._journal.open("rb") as file:
                file.seek(self._known.size)
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
                if line.cell < len(self.plan.cells):
                    self._known.take(line)
            self._known.size += len(text)

    def _read(self) -> Plan:
        path = self.path / "plan.json"
        try:
            return Plan.model_validate_json(path.read_bytes())
        except FileNotFoundError as error:
            raise UsageError(f"There is no experiment {self.name}.") from error
        except (OSError, ValidationError) as error:
            raise StoreError(f"{path} cannot be read: {error}") from error


class _Known:
    """What the journal says, as far as it was read."""

    def __init__(self) -> None:
        self.size = 0
        """Bytes."""
        self.begun: dict[str, int] = {}
        """The cells of runs that have no end in the journal."""
        self.newest: dict[int, str] = {}
        self.over: dict[int, Line] = {}
        """The first end of each cell that is not an error."""

    def take(self, line: Line) -> None:
        """Take in one more line."""
        self.newest[line.cell] = line.run
        if line.verdict is None:
            self.begun[line.run] = line.cell
            return
        self.begun.pop(line.run, None)
        if line.verdict is not Verdict.ERROR:
            self.over.setdefault(line.cell, line)


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


def called(store: Store, name: str) -> Experiment:
    """Give the experiment of a name; UsageError, which names the newest, where there is none."""
    found = find(store, name)
    if found is None:
        names = ", ".join(each.name for each in named(store)[:5])
        raise UsageError(
            f"There is no experiment {name}.",
            f"The newest are: {names}." if names else "`sandbox run all --agent CMD` begins one.",
        )
    return found


def checked(found: Experiment, first: Sequence[Job]) -> Experiment:
    """Give an experiment that is to go on; `first` are the first trials as they would be now.

    UsageError where its tasks or agents have become others since it was planned.
    """
    planned = found.plan.cells[: len(first)]
    if planned != tuple(first):
        raise UsageError(
            f"The experiment {found.name} is another one now: {_difference(planned, first)}.",
            "`sandbox run` begins a new one. What was run stays as it is.",
        )
    return found


def opened(store: Store, plan: Plan, name: str | None) -> Experiment:
    """Give the experiment of a plan: the one that has still cells to be done, else a new one.

    UsageError where one of that name has another plan.
    """
    if name is not None:
        path = store.root / FOLDER / _checked(name)
        if not (path / "plan.json").exists():
            return _made(path, store, plan)
        found = Experiment(path, store)
        if not found.plan.is_like(plan):
            difference = _difference(found.plan.cells, plan.cells)
            raise UsageError(
                f"The experiment {name} is another one: {difference}.",
                "Give this one another name. What was run under that name stays as it is.",
            )
        return found
    for each in named(store):
        if each.plan.is_like(plan) and each.left():
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


def _difference(old: Sequence[Job], new: Sequence[Job]) -> str:
    """Say in a few words what tells two plans apart."""

    def parts(cells: Sequence[Job]) -> dict[str, set[object]]:
        return {
            "tasks": {cell.task for cell in cells},
            "versions of tasks": {(cell.task, cell.task_digest) for cell in cells},
            "agents": {(cell.agent, cell.mode) for cell in cells},
            "versions of agents": {(cell.agent, cell.version) for cell in cells},
            "trials": {cell.trial for cell in cells},
        }

    before, after = parts(old), parts(new)
    for what, known in before.items():
        if known != after[what]:
            return f"its {what} are others"
    return "its options are others"
