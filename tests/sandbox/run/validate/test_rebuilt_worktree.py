"""A worktree on this host and in a session, compared."""

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.container.engines.base import SessionSpec
from sandbox.container.engines.fake import FakeEngine
from sandbox.run.validate.rebuilt_worktree import (
    files_of_folder,
    files_of_session,
    is_installed,
    rebuilt_row,
)
from tests.sandbox.worlds import task


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    (top / "src").mkdir(parents=True)
    (top / "src" / "a.py").write_text("pass\n")
    (top / "run").write_text("#!/bin/sh\n")
    (top / "run").chmod(0o755)
    (top / "link").symlink_to("src/a.py")
    return top


def in_session(folder: Path, archive: Path) -> dict[bytes, object]:
    with tarfile.open(archive, "w") as tar:
        tar.add(folder, "home/agent/tree")
    engine = FakeEngine({})
    engine.import_image(archive, tag="t", labels={})
    with engine.start(SessionSpec("t")) as session:
        return {**files_of_session(session, "/home/agent/tree")}


def test_the_same_files_are_the_same(folder: Path, tmp_path: Path) -> None:
    found = files_of_folder(folder)
    assert set(found) == {b"src", b"src/a.py", b"run", b"link"}
    assert found == in_session(folder, tmp_path / "root.tar")


@pytest.mark.parametrize(
    "change",
    [
        lambda top: (top / "src" / "a.py").write_text("pass \n"),
        lambda top: (top / "run").chmod(0o644),
        lambda top: (top / "src" / "b.py").write_text(""),
        lambda top: (top / "link").unlink(),
    ],
    ids=["content", "mode", "added", "removed"],
)
def test_what_differs_is_seen(
    folder: Path, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    shown = in_session(folder, tmp_path / "root.tar")
    change(folder)
    assert files_of_folder(folder) != shown


@pytest.mark.parametrize(
    ("path", "installed"),
    [
        (b"node_modules", True),
        (b"node_modules/tape/index.js", True),
        (b"src/node_modules/tape/index.js", False),
        (b"node_modules.js", False),
    ],
)
def test_what_an_environment_installs_is_no_part_of_the_repository(
    path: bytes, installed: bool
) -> None:
    assert is_installed(path) is installed


def test_what_differs_does_not_hold() -> None:
    assert rebuilt_row(task(), []).holds
    bad = rebuilt_row(task(), list("abcde"))
    assert (bad.holds, bad.notes[0], bad.notes[-1]) == (False, "a differs", "and 2 more")
