"""A task of a run, where the making of it is broken off."""

import dataclasses
import shutil
from pathlib import Path

import pytest

from sandbox.model import places
from sandbox.model.errors import DocumentError, UsageError
from sandbox.tasks import library
from sandbox.tasks.harvested import Deeds, harvest


@pytest.mark.parametrize("error", [KeyboardInterrupt(), DocumentError("x"), OSError(28, "full")])
def test_what_is_broken_off_leaves_nothing(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = library.load("inflection/house-terms")
    shutil.copytree(loaded.folder, tmp_path / "house-terms")
    task = dataclasses.replace(loaded, folder=tmp_path / "house-terms")

    def broken(_: str) -> None:
        assert (tmp_path / "again/task.yaml").exists()
        raise error

    monkeypatch.setattr(library, "load", broken)
    expected = UsageError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        harvest(task, Deeds("0123abcd", task.task.oracle), "again")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["house-terms"]


def test_a_task_of_a_seed_goes_into_the_repositorys_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "task_repos"
    shutil.copytree(places.project() / "task_repos/humanize", root / "humanize")
    monkeypatch.setenv("SANDBOX_TASKS", str(root))
    task = library.load("humanize/bare-8a348be4")
    made = harvest(task, Deeds("0123abcd", task.task.oracle), "again")
    assert made == root / "humanize/again"
    again = library.load("humanize/again")
    assert (again.task.tests, again.cases) == (task.task.tests, task.cases)


def test_a_repository_under_other_names_gets_no_task() -> None:
    task = library.load("tovunim/bare-8a348be4")
    with pytest.raises(UsageError, match="tovunim is a repository under other names"):
        harvest(task, Deeds("0123abcd", task.task.oracle), "again")
