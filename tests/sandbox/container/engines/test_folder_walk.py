"""The walk through a folder in which others are at work."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.container.engines.folder_walk import FLAGS, MOST_LOSSES, entries_below

NAMES = st.sampled_from(["a", "b", "c"])
TREES = st.recursive(st.none(), lambda inner: st.dictionaries(NAMES, inner), max_leaves=20)


def walked(top: Path, meanwhile: Callable[[str], object] = str) -> Iterator[str]:
    folder = os.open(top, FLAGS)
    try:
        for each in entries_below(folder):
            meanwhile(each.name)
            yield each.name
    finally:
        os.close(folder)


def made(top: Path, *paths: str) -> Path:
    for path in paths:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).touch()
    return top


@pytest.mark.slow
@given(tree=TREES)
def test_each_entry_is_given_once(
    tree: dict[str, object] | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    top = tmp_path_factory.mktemp("top")

    def make(folder: Path, inner: object) -> None:
        for name, each in inner.items() if isinstance(inner, dict) else ():
            if each is None:
                (folder / name).symlink_to("..")
            else:
                (folder / name).mkdir()
                make(folder / name, each)

    make(top, tree)
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert sorted(walked(top)) == sorted(each.name for each in top.rglob("*"))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("how", ["removed", "a file", "a link"])
def test_a_folder_that_goes_before_it_is_opened_is_passed_over(tmp_path: Path, how: str) -> None:
    made(tmp_path, "1/kept", "2/kept", "3/kept")
    gone: list[str] = []

    def replace(name: str) -> None:
        if gone or name == "kept":
            return
        gone.append(name)
        shutil.rmtree(tmp_path / name)
        if how == "a file":
            (tmp_path / name).touch()
        elif how == "a link":
            (tmp_path / name).symlink_to("/proc")

    assert sorted(walked(tmp_path, replace)) == ["1", "2", "3", "kept", "kept"]


def test_a_folder_that_goes_while_it_is_looked_at_hides_no_other(tmp_path: Path) -> None:
    made(tmp_path, "1/a/in-1", "2/a/in-2", "3/a/in-3")

    def remove(name: str) -> None:
        if name.startswith("in-"):
            shutil.rmtree(next(tmp_path.glob(f"*/a/{name}")).parent)

    assert {"in-1", "in-2", "in-3"} <= set(walked(tmp_path, remove))


def test_one_that_is_moved_elsewhere_leads_nowhere_else(tmp_path: Path) -> None:
    top = made(tmp_path / "top", "1/a/in", "2/a/in", "3/a/in")
    made(tmp_path, "elsewhere/secret")

    def move(name: str) -> None:
        if name == "in" and not (tmp_path / "elsewhere" / "a").exists():
            parent = next(each for each in top.iterdir() if (each / "a/in").exists())
            (parent / "a").rename(tmp_path / "elsewhere" / "a")

    names = list(walked(top, move))
    assert "secret" not in names
    assert {"1", "2", "3"} <= set(names)
    assert names.count("in") >= 2


@pytest.mark.slow
def test_who_moves_folders_for_ever_does_not_keep_it_for_ever(tmp_path: Path) -> None:
    made(tmp_path, *(f"{number}/a/in" for number in range(3 * MOST_LOSSES)))

    def remove(name: str) -> None:
        if name == "in":
            for each in tmp_path.glob("*/a"):
                each.rename(each.with_name("b"))

    assert 0 < sum(1 for _ in walked(tmp_path, remove)) <= 9 * MOST_LOSSES
