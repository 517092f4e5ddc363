"""What an image holds is read once on a machine, and is the same as what would be read anew."""

import os
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.model import places
from sandbox.model.layer import Layer
from sandbox.run.facts import baseline as baselines
from sandbox.run.facts import kept_baselines
from sandbox.run.facts.baseline import Baseline, Watched
from sandbox.tasks import library
from sandbox.tasks.images import Images

KEY = "a" * 64
ROWS = {"/a\x00é": ("12", "file", True, 0o100755), "/b": ("", "link", False, 0o120777)}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(baselines, "_kept", {})
    monkeypatch.setattr(kept_baselines, "FOLDER", str(tmp_path / "baselines"))
    return tmp_path / "baselines"


@pytest.mark.engine
def test_what_was_kept_is_what_would_be_read(engine: Engine, cache: Path) -> None:
    task = library.load("humanize/file-sizes")
    image = Images(engine, places.cache()).ensure(task, print)
    watched = Watched.of(task.task, task.worktree)

    added = f"{task.worktree}/new.txt"

    def read(name: str) -> Baseline:
        with engine.start(SessionSpec(image.tag)) as session:
            session.write(added, b"new")
            return baselines.baseline(session, name, Layer(), watched)

    whole = read(image.id)
    assert added in whole
    baselines._kept.clear()
    assert read(image.id) == whole
    assert len(list(cache.iterdir())) == 1
    assert read(image.tag) == whole, "a name may mean another image tomorrow"
    assert len(list(cache.iterdir())) == 1
    assert read(f"{image.id[:-1]}x") == whole
    assert len(list(cache.iterdir())) == 2


def test_rows_come_back_as_they_were(cache: Path) -> None:
    assert kept_baselines.load(KEY) is None
    kept_baselines.keep(KEY, ROWS)
    assert kept_baselines.load(KEY) == ROWS
    assert [each.name for each in cache.iterdir()] == [f"{KEY}.json"]


@pytest.mark.parametrize(
    ("old", "new"), [(b"12", b"13"), (b"true", b"1"), (b"}", b""), (b"", b"[")]
)
def test_what_was_damaged_is_read_anew(cache: Path, old: bytes, new: bytes) -> None:
    kept_baselines.keep(KEY, ROWS)
    path = cache / f"{KEY}.json"
    path.write_bytes(path.read_bytes().replace(old, new))
    assert kept_baselines.load(KEY) is None


def test_the_newest_are_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_baselines, "MOST", 2)
    for number, name in enumerate("abcd"):
        kept_baselines.keep(name, ROWS)
        os.utime(cache / f"{name}.json", (number, number))
    assert {each.stem for each in cache.iterdir()} == {"c", "d"}


def test_a_cache_that_cannot_be_written_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_baselines, "FOLDER", str(tmp_path / "file" / "cache"))
    (tmp_path / "file").write_text("in the way")
    kept_baselines.keep(KEY, ROWS)
    assert kept_baselines.load(KEY) is None
