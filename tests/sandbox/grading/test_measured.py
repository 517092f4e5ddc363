"""What stored runs are measured as, the first time and each time after."""

import dataclasses
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sandbox.grading import measured as module
from sandbox.grading.measured import KEPT, measured, reference_length
from sandbox.grading.metrics.run_metrics import Subject, measure
from sandbox.model.report import RunMetrics
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.tasks import library
from tests.sandbox.grading.test_reports import TASK, stored


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return stored(Store(tmp_path), "agent", Verdict.PASSED)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs that were measured, each time that one was."""
    found = []

    def counting(subject: Subject) -> RunMetrics:
        found.append(subject.record.id)
        return measure(subject)

    monkeypatch.setattr(module, "measure", counting)
    return found


def again(folder: RunFolder) -> RunMetrics:
    (run,) = measured([folder])
    return run


def test_a_run_is_measured_once_and_told_the_same(folder: RunFolder, counted: list[str]) -> None:
    assert again(folder) == again(folder) == again(folder)
    assert counted == [folder.id]


@pytest.mark.parametrize("name", ["trace", "changes", "candidate", "tests", "grade"])
def test_what_is_altered_later_is_noticed_also_where_its_size_and_time_are_as_before(
    folder: RunFolder, name: str
) -> None:
    assert again(folder).verdict is Verdict.PASSED
    path: Path = getattr(folder, name)
    before, data = path.stat(), path.read_bytes()
    path.write_bytes(data[:-1] + b" ")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert again(folder).verdict is Verdict.INVALID
    path.write_bytes(data)
    assert again(folder).verdict is Verdict.PASSED


def test_a_kept_measure_that_is_altered_is_not_believed(
    folder: RunFolder, counted: list[str]
) -> None:
    assert again(folder).verdict is Verdict.PASSED
    with closing(sqlite3.connect(folder.path.parent / KEPT)) as file, file:
        file.execute("UPDATE measured SET metrics = replace(metrics, 'passed', 'failed')")
    assert again(folder).verdict is Verdict.PASSED
    assert counted == [folder.id] * 2


def test_of_a_run_that_was_removed_nothing_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    removed, left = (stored(store, "agent", Verdict.PASSED) for _ in range(2))
    assert len(measured([removed, left])) == 2
    shutil.rmtree(removed.path)
    assert len(measured([left])) == 1
    with closing(sqlite3.connect(tmp_path / KEPT)) as file:
        assert file.execute("SELECT run FROM measured").fetchall() == [(left.id,)]


def test_a_run_that_ends_is_measured_anew(tmp_path: Path) -> None:
    folder = stored(Store(tmp_path), "agent", None)
    assert again(folder).verdict is None
    folder.save_record(folder.record().model_copy(update={"verdict": Verdict.ERROR}))
    assert again(folder).verdict is Verdict.ERROR


def test_other_code_or_another_version_of_the_task_measures_anew(
    folder: RunFolder, counted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    again(folder)
    with monkeypatch.context() as context:
        context.setattr(module, "_code", lambda: "other")
        again(folder)
    assert len(counted) == 2
    loaded = library.load(TASK)
    other = dataclasses.replace(loaded, digest="other")
    monkeypatch.setattr(library, "load", lambda _: other)
    again(folder)
    assert len(counted) == 3


@pytest.mark.parametrize("harm", ["text", "another table", "no measure", "a folder"])
def test_what_was_kept_may_break(folder: RunFolder, harm: str) -> None:
    first = again(folder)
    kept = folder.path.parent / KEPT
    if harm in ("text", "a folder"):
        kept.unlink()
    if harm == "text":
        kept.write_text("nothing\n" * 1000)
    elif harm == "a folder":
        kept.mkdir()
    else:
        with sqlite3.connect(kept) as file:
            file.execute(
                "DROP TABLE measured"
                if harm == "another table"
                else "UPDATE measured SET metrics = '{'"
            )
        file.close()
    assert again(folder) == first
    assert again(folder) == first


def test_a_place_that_cannot_be_written_is_read_all_the_same(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unable(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("attempt to write a readonly database")

    monkeypatch.setattr(sqlite3, "connect", unable)
    assert again(folder).verdict is Verdict.PASSED


def test_the_reference_is_the_oracle_or_the_shortest_path_of_the_graph() -> None:
    task = library.load(TASK).task
    bare = task.model_copy(update={"graph": None})
    assert reference_length(bare) == len(task.oracle)
    assert reference_length(task) <= len(task.oracle)
