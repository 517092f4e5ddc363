"""Experiments: a plan of runs, and a journal by which each cell is done exactly once.

    runs/experiments/<name>/plan.json     what is to be run
                            journal.jsonl  each run as it begins and as it ends
                            claims/        the cells that are being done
                            .lock          held by all processes that work at it

A run is noted before its folder is made. Whatever ends the process, the journal then names every
run that may have begun, and that run's own folder says whether it came to an end.
"""

import fcntl
import os
from collections.abc import Collection, Iterator, Sequence
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
from sandbox.run.claims import Claims
from sandbox.run.journal import Journal

FOLDER = "experiments"
NAME_LETTERS = 8


class Experiment:
    """One experiment's folder."""

    def __init__(self, path: Path, store: Store) -> None:
        self.path = path
        self._store = store
        self._held: int | None = None
        self._claims = Claims(path / "claims")
        self.plan = self._read()
        self._journal = Journal(path / "journal.jsonl", len(self.plan.cells))
        self._numbers = {cell: number for number, cell in enumerate(self.plan.cells)}

    @property
    def name(self) -> str:
        """How it is called."""
        return self.path.name

    def hold(self) -> None:
        """Work at it until `let_go`; UsageError where an older version does, which shares not."""
        self._held = os.open(self.path / ".lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._held, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.let_go()
            raise UsageError(
                f"Another process, of an older version, works at the experiment {self.name}.",
                "Wait until it has ended.",
            ) from error

    def let_go(self) -> None:
        """Work at it no longer, and let others have what was not done."""
        self._claims.release_all()
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def begins(self, job: Job, folder: RunFolder) -> None:
        """Note that a run of a cell begins; its folder is not there yet."""
        self._journal.note(Line(cell=self._numbers[job], run=folder.id))

    def over(self, result: JobResult) -> None:
        """Note what a run of a cell has come to, and let others have the cell."""
        cell = self._numbers[result.job]
        if result.run is not None and result.verdict is not None:
            self._journal.note(
                Line(cell=cell, run=result.run, verdict=result.verdict, crashed=result.crashed)
            )
        self._claims.release(cell)

    def taken(self, passed_over: Collection[Job] = ()) -> Iterator[Job]:
        """Give cells that are still to be done and that nobody else does, and claim each.

        In the order of the plan; a cell is claimed when it is asked for, until `over`.
        """
        for job in self.left():
            cell = self._numbers[job]
            if job in passed_over or not self._claims.take(cell):
                continue
            if self._is_over(cell):  # by somebody who had claimed it before
                self._claims.release(cell)
            else:
                yield job

    def elsewhere(self) -> int:
        """Count the cells that other processes are doing now."""
        return sum(self._claims.is_elsewhere(self._numbers[job]) for job in self.left())

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
        self._journal.read_on()
        return self._journal.newest

    def replaced(self) -> set[str]:
        """Give the runs that do not count: another one of their cell does."""
        counted = {cell: line.run for cell, line in self._over().items()}
        newest = self._journal.newest
        every = self._journal.every.items()
        return {run for run, cell in every if run != counted.get(cell, newest[cell])}

    def left(self) -> list[Job]:
        """Give the cells that are still to be done, in the order of the plan."""
        over = self._over()
        return [cell for number, cell in enumerate(self.plan.cells) if number not in over]

    def _over(self) -> dict[int, Line]:
        """Give the first end of each cell that is not an error."""
        self._journal.read_on()
        over = dict(self._journal.over)
        for run, cell in self._journal.begun.items():
            if (end := self._end_of(run, cell)) is not None and end.verdict is not Verdict.ERROR:
                over.setdefault(cell, end)
        return over

    def _is_over(self, cell: int) -> bool:
        self._journal.read_on()
        if cell in self._journal.over:
            return True
        ends = (self._end_of(run, of) for run, of in self._journal.begun.items() if of == cell)
        return any(end is not None and end.verdict is not Verdict.ERROR for end in ends)

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
