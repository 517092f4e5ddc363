"""A task of a run, where the making of it is broken off."""

import dataclasses
import shutil
from pathlib import Path

import pytest

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
