"""Stored runs, measured; what one was measured as is kept, so that reports measure it once.

A measure is used again while everything that it rests on is as it was: the files of the run, by
inode, size and times (a file that was written since has another time of change, which programs
cannot set but by the clock), the task as it is by now, and the code that measures.
"""

import functools
import hashlib
import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path

from pydantic import ValidationError

from sandbox.grading.metrics.pooled_rates import NOTHING
from sandbox.grading.metrics.run_metrics import Subject, measure
from sandbox.grading.stored_grade import stored_grade
from sandbox.model import garbage
from sandbox.model import trace as traces
from sandbox.model.errors import DocumentError, EvidenceError, StoreError, UsageError
from sandbox.model.event import ActionTaken, Entry, RunEnded
from sandbox.model.report import RunMetrics
from sandbox.model.run_folder import RunFolder
from sandbox.model.task import Task
from sandbox.model.usage import ModelUsage, total
from sandbox.rules.checker.check import product_of
from sandbox.rules.checker.searches import shortest_accepted
from sandbox.rules.monitors.context import Context
from sandbox.tasks import library

KEPT = "measured.sqlite"
"""Beside the runs; derived, and made anew where it is missing or broken."""
TABLE = (
    "CREATE TABLE IF NOT EXISTS measured"
    " (run TEXT PRIMARY KEY, task TEXT NOT NULL, rests_on TEXT NOT NULL, metrics TEXT NOT NULL)"
)
Row = tuple[str, str, str, str]
"""Run, its task, what the measure rests on, and the measure."""
ANY = RunFolder(Path())
FILES = ("run.json", *(path.name for path in (ANY.grade, *ANY.evidence)))
"""The names of the files in a run's folder on which its measure rests."""
MEASURING = ("grading", "model", "rules")
"""The rooms whose code and tables a measure rests on."""


class Tasks:
    """The tasks that runs name, as they are by now."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Task, str] | None] = {}
        self._lengths: dict[str, int] = {}

    def find(self, name: str) -> tuple[Task, str] | None:
        """Give a task and its digest, None where it is not there any more or wrong by now."""
        if name not in self._known:
            self._known[name] = None
            with suppress(UsageError, DocumentError):
                loaded = library.load(name)
                self._known[name] = loaded.task, loaded.digest
        return self._known[name]

    def length(self, task: Task) -> int:
        """Give the steps of its shortest accepted path; searching takes as long as measuring."""
        if task.id not in self._lengths:
            self._lengths[task.id] = reference_length(task)
        return self._lengths[task.id]

    def digest(self, name: str) -> str:
        """Give its digest, empty where there is none."""
        found = self.find(name)
        return found[1] if found else ""


@garbage.paused()
def measured(folders: Iterable[RunFolder]) -> list[RunMetrics]:
    """Measure stored runs; StoreError where a folder cannot be read."""
    by_store: dict[Path, list[RunFolder]] = {}
    for folder in folders:
        by_store.setdefault(folder.path.parent, []).append(folder)
    tasks = Tasks()
    return [run for root, group in by_store.items() for run in _of_store(root, group, tasks)]


def _of_store(root: Path, folders: Sequence[RunFolder], tasks: Tasks) -> Iterable[RunMetrics]:
    kept = _kept(root)
    gone = kept.keys() - set(os.listdir(root)) if kept else set()  # noqa: PTH208 - names alone
    fresh: list[Row] = []
    for folder in folders:
        task, rests_on, metrics = kept.get(folder.id, ("", "", ""))
        same = rests_on == _rests_on(_state(folder), tasks.digest(task), metrics)
        run = _again(metrics) if same else None
        if run is None:
            run, row = _anew(folder, tasks)
            fresh.append(row)
        yield run
    _keep(root, fresh, gone)


def remember(folder: RunFolder) -> None:
    """Measure a run that has just ended, so that no report has to; what fails is done by these."""
    with suppress(StoreError):
        _keep(folder.path.parent, [_anew(folder, Tasks())[1]])


def _anew(folder: RunFolder, tasks: Tasks) -> tuple[RunMetrics, Row]:
    state = _state(folder)  # before the files are read
    found = _measured(folder, tasks)
    # What a run says nothing of is not kept: reading it again would take a third of a report.
    rates = {name: ratio for name, ratio in found.rates.items() if ratio != NOTHING}
    run = found.model_copy(update={"rates": rates})
    task, told = folder.record().task, run.model_dump_json()
    garbage.collect_new()  # a whole trace may hang on a cycle
    return run, (folder.id, task, _rests_on(state, tasks.digest(task), told), told)


def _again(metrics: str) -> RunMetrics | None:
    with suppress(ValidationError):
        return RunMetrics.model_validate_json(metrics)
    return None


def _state(folder: RunFolder) -> str:
    """Tell apart any two states of a run's files."""
    root = str(folder.path)
    told = []
    for name in FILES:
        try:  # strings, for paths would take three times as long, six times a run
            found = os.stat(f"{root}/{name}")  # noqa: PTH116
        except OSError:
            told.append("-")
        else:
            told.append(f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}")
    return ",".join(told)


def _rests_on(state: str, task: str, metrics: str) -> str:
    """Give a digest of what a measure rests on and of the measure, so that nobody alters it."""
    return hashlib.sha256("\0".join((_code(), task, state, metrics)).encode()).hexdigest()


@functools.cache
def _code() -> str:
    """Give a digest of what measures."""
    home = Path(__file__).parents[1]
    files = [
        path
        for room in MEASURING
        for path in sorted((home / room).rglob("*"))
        if path.suffix in (".py", ".yaml")
    ]
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _kept(root: Path) -> dict[str, tuple[str, str, str]]:
    """What runs were measured as, and on what that rests; nothing where it cannot be read."""
    if not (root / KEPT).exists():
        return {}
    with suppress(sqlite3.Error), closing(sqlite3.connect(root / KEPT, timeout=30)) as file:
        rows = file.execute("SELECT run, task, rests_on, metrics FROM measured")
        return {run: (task, rests_on, metrics) for run, task, rests_on, metrics in rows}
    return {}


def _keep(root: Path, fresh: Sequence[Row], gone: Iterable[str] = ()) -> None:
    """Keep what was measured, and nothing of runs that were removed.

    Where that cannot be, it is measured again the next time.
    """
    if not fresh and not gone:
        return
    try:
        with closing(sqlite3.connect(root / KEPT, timeout=30)) as file, file:
            file.execute(TABLE)
            file.executemany("INSERT OR REPLACE INTO measured VALUES (?, ?, ?, ?)", fresh)
            file.executemany("DELETE FROM measured WHERE run = ?", [(run,) for run in gone])
    except sqlite3.OperationalError:
        return  # read-only, full or busy
    except sqlite3.DatabaseError:
        with suppress(OSError):
            (root / KEPT).unlink()  # broken


def _measured(folder: RunFolder, tasks: Tasks) -> RunMetrics:
    record = folder.record()
    found = tasks.find(record.task)
    task = found[0] if found and found[1] == record.task_digest else None
    grade = stored_grade(folder, record)
    if grade is not None:
        record = record.model_copy(update={"verdict": grade.verdict})
    entries = _entries(folder) if grade is not None and grade.grades else None
    return measure(
        Subject(
            record=record,
            grade=grade,
            entries=entries,
            task=task,
            facet=found[0].facet.value if found else None,
            reference_length=None if task is None else tasks.length(task),
            usage=_usage(entries or ()),
        )
    )


def _usage(entries: Iterable[Entry]) -> ModelUsage | None:
    told = [entry.event for entry in entries if isinstance(entry.event, ActionTaken | RunEnded)]
    return total([event.usage for event in told if event.usage is not None])


def _entries(folder: RunFolder) -> tuple[Entry, ...] | None:
    """Read the trace of a graded run, None where it cannot be read."""
    try:
        stored = traces.read(folder.trace)
    except (StoreError, EvidenceError):
        return None
    return None if stored.problem else stored.entries


def reference_length(task: Task) -> int:
    """Steps of the shortest accepted path of the task's graph; without one, of the oracle."""
    if task.graph is None:
        return len(task.oracle)
    product = product_of(task.graph, task.rules, task.oracle, context=Context.of(task))
    path = shortest_accepted(product)
    if path is None:
        return len(task.oracle)
    return sum(len(product.world.moves[move].actions) for move in path)
