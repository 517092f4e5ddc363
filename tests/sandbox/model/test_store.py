"""Run folders, names and the index."""

import contextlib
import errno
import os
import sqlite3
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from sandbox.model.errors import StoreError, UsageError
from sandbox.model.run import RunRecord
from sandbox.model.run_folder import write_whole
from sandbox.model.store import INDEX, Store
from sandbox.model.verdict import Verdict


def record(run: str, started: str = "2026-01-01T00:00:00+00:00") -> RunRecord:
    return RunRecord(
        id=run,
        task="humanize/file-sizes",
        task_digest="0" * 64,
        image="sandbox/x:1",
        image_id="sha256:1",
        agent="oracle",
        sandbox_version="0",
        engine="fake 1",
        started=started,
    )


def test_a_run_is_found_by_its_name_a_prefix_and_last(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create(record("aaaa1111-x", "2026-01-02T00:00:00+00:00"))
    store.create(record("aabb2222-x", "2026-01-01T00:00:00+00:00"))
    assert store.find("aab").id == "aabb2222-x"
    assert store.find("aaaa1111-x").id == "aaaa1111-x"
    assert store.find("last").id == "aaaa1111-x"
    assert [folder.id for folder in store.folders()] == ["aaaa1111-x", "aabb2222-x"]


def test_an_ambiguous_prefix_lists_the_candidates(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create(record("aaaa1111-x"))
    store.create(record("aabb2222-x"))
    with pytest.raises(UsageError, match="2 runs start with `aa`: aa"):
        store.find("aa")


def test_a_name_that_another_run_continues_is_that_run(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create(record("aaaa"))
    store.create(record("aaaa-longer"))
    assert store.find("aaaa").id == "aaaa"


def test_an_unknown_run_is_a_usage_error_that_names_the_newest(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(UsageError, match="sandbox run"):
        store.find("last")
    store.create(record("aaaa1111-x"))
    with pytest.raises(UsageError, match="aaaa1111-x"):
        store.find("zz")


def test_the_record_of_a_run_is_read_back_as_it_was_stored(tmp_path: Path) -> None:
    store = Store(tmp_path)
    folder = store.create(record("aaaa1111-x"))
    ended = record("aaaa1111-x").model_copy(update={"verdict": Verdict.PASSED})
    folder.save_record(ended)
    assert Store(tmp_path).find("aaaa").record() == ended


@pytest.mark.parametrize("damage", [b"", b"not a database" * 100])
def test_a_lost_or_broken_index_is_made_anew_from_the_folders(
    tmp_path: Path, damage: bytes
) -> None:
    store = Store(tmp_path)
    store.create(record("aaaa1111-x"))
    (tmp_path / INDEX).unlink()
    if damage:
        (tmp_path / INDEX).write_bytes(damage)
    assert [folder.id for folder in store.folders()] == ["aaaa1111-x"]


def test_a_folder_without_a_readable_record_stays_but_is_not_listed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create(record("aaaa1111-x"))
    (tmp_path / INDEX).unlink()
    (tmp_path / "aaaa1111-x" / "run.json").write_text("{")
    assert list(store.folders()) == []
    assert (tmp_path / "aaaa1111-x").is_dir()


def test_a_run_id_is_never_given_twice(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create(record("aaaa1111-x"))
    with pytest.raises(StoreError, match="cannot be made"):
        store.create(record("aaaa1111-x"))


def test_runs_created_at_once_are_all_listed(tmp_path: Path) -> None:
    names = [f"{number:08x}-x" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: Store(tmp_path).create(record(name)), names))
    assert sorted(folder.id for folder in Store(tmp_path).folders()) == names


def test_a_removed_run_is_gone_from_disk_and_index(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.remove(store.create(record("aaaa1111-x")))
    assert list(store.folders()) == []
    assert not (tmp_path / "aaaa1111-x").exists()


def test_a_file_that_is_missing_says_that_the_run_ended_early(tmp_path: Path) -> None:
    folder = Store(tmp_path).create(record("aaaa1111-x"))
    with pytest.raises(StoreError, match=r"has no grade\.json"):
        folder.load(folder.grade, RunRecord)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "grade.json"
    write_whole(target, b"old")

    def full(_: Path, data: bytes) -> int:
        with Path("/dev/full").open("wb", buffering=0) as device:
            return os.write(device.fileno(), data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StoreError, match="No space left"):
        write_whole(target, b"new")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["grade.json"]


def test_a_failed_write_is_told_where_nothing_can_be_removed_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(StoreError, match="Read-only file system"):
        write_whole(tmp_path / "run.json", b"new")


def test_a_run_that_was_killed_before_it_stood_in_the_index_is_listed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create(record("aaaa1111-x"))
    with closing(sqlite3.connect(tmp_path / INDEX)) as index, index:
        index.execute("DELETE FROM runs")
    assert [folder.id for folder in store.folders()] == ["aaaa1111-x"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
@pytest.mark.parametrize("read_only", [True, False])
def test_runs_are_listed_where_nothing_can_be_written(tmp_path: Path, *, read_only: bool) -> None:
    names = ["aaaa1111-x", "bbbb1111-x"]
    subprocess.run(("mount", "-t", "tmpfs", "-o", "size=1m", "store", tmp_path), check=True)
    try:
        store = Store(tmp_path)
        for name in names:
            store.create(record(name)).let_go()
        (tmp_path / INDEX).unlink()
        with contextlib.suppress(OSError), (tmp_path / "fill").open("wb", buffering=0) as fill:
            while fill.write(bytes(1024)):
                pass
        if read_only:
            subprocess.run(("mount", "-o", "remount,ro", tmp_path), check=True)
        assert sorted(folder.id for folder in store.folders()) == names
        assert store.find("last").id in names
        if not read_only:
            store.remove(store.folder(names[0]))
            assert [folder.id for folder in store.folders()] == names[1:]
    finally:
        subprocess.run(("umount", "-l", tmp_path), check=True)


def test_a_folder_of_which_nothing_was_written_yet_is_told_from_others(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create(record("aaaa1111-x")).let_go()
    for name, files in {
        "bbbb1111-x": [".live", ".reserve", ".run.json.0123abcd"],
        "cccc1111-x": [".live", "trace.jsonl"],
        "dddd1111-x": [],
        "checks": [".live"],
    }.items():
        (tmp_path / name).mkdir()
        for file in files:
            (tmp_path / name / file).touch()
    assert [folder.id for folder in store.unbegun()] == ["bbbb1111-x"]
    folder = store.folder("bbbb1111-x")
    folder.hold()
    assert list(store.unbegun()) == []
    folder.let_go()


def test_what_was_half_written_is_tidied(tmp_path: Path) -> None:
    folder = Store(tmp_path).create(record("aaaa1111-x"))
    kept = {path.name for path in folder.path.iterdir()}
    for name in (".run.json.0123abcd", ".candidate.tar.zst.0123abcd"):
        (folder.path / name).touch()
    folder.tidy()
    assert {path.name for path in folder.path.iterdir()} == kept


def test_an_index_that_is_locked_is_not_taken_for_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    store.create(record("aaaa1111-x"))

    connect = sqlite3.connect

    def locked(path: Path | str, **_: object) -> sqlite3.Connection:
        if isinstance(path, Path):
            raise sqlite3.OperationalError("database is locked")
        return connect(path)

    monkeypatch.setattr(sqlite3, "connect", locked)
    assert [folder.id for folder in store.folders()] == ["aaaa1111-x"]
    with pytest.raises(StoreError, match="database is locked"):
        store.create(record("bbbb1111-x"))
    assert not (tmp_path / INDEX).with_suffix(".broken").exists()


@pytest.mark.parametrize("lost", ["evidence", "grade"])
def test_a_record_that_has_lost_its_seals_is_altered_unless_it_is_of_0_1(
    tmp_path: Path, lost: str
) -> None:
    folder = Store(tmp_path).create(record("aaaa1111-x"))
    for path in (*folder.evidence, folder.grade):
        path.write_bytes(b"{}")
    folder.seal()
    folder.seal_grade(Verdict.PASSED)
    sealed = folder.record()
    assert folder.objection(sealed) == ""
    unsealed = sealed.model_copy(update={lost: type(getattr(sealed, lost))()})
    assert f"says nothing of the {lost}" in folder.objection(unsealed)
    old = unsealed.model_copy(update={"sandbox_version": "0.1.0"})
    assert folder.objection(old) == ""
