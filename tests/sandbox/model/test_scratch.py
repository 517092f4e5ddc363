"""Temporary folders: whose process is gone has its folders swept, nobody else."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sandbox.model.errors import StoreError
from sandbox.model.scratch import YOUNG_SECONDS, Scratch, sweep

MAKE = """
import sys
from sandbox.model.scratch import Scratch
print(Scratch("test").path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def aged(folder: Path) -> Path:
    before = folder.stat().st_mtime - 2 * YOUNG_SECONDS
    os.utime(folder, (before, before))
    return folder


def test_a_folder_is_gone_with_its_use(temporary: Path) -> None:
    with Scratch("test") as folder:
        (folder / "sub").mkdir()
        assert folder.stat().st_mode & 0o777 == 0o700
    assert list(temporary.iterdir()) == []


def test_who_was_killed_has_its_folder_swept(temporary: Path) -> None:
    process = subprocess.Popen(
        (sys.executable, "-c", MAKE), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    folder = aged(Path(process.stdout.readline().strip()))
    assert folder.parent == temporary
    assert sweep() == []
    process.kill()
    process.communicate()
    assert sweep() == [folder]
    assert not folder.exists()


def test_what_is_new_or_in_use_or_no_folder_is_left_alone(temporary: Path) -> None:
    new = temporary / "sandbox-new"
    new.mkdir()
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    link = temporary / "sandbox-link"
    link.symlink_to(elsewhere)
    os.utime(link, (1, 1), follow_symlinks=False)
    file = temporary / "sandbox-file"
    file.touch()
    os.utime(file, (1, 1))
    with Scratch("used") as used:
        aged(used)
        assert sweep() == []
    assert {each.name for each in temporary.iterdir()} == {
        "sandbox-new", "elsewhere", "sandbox-link", "sandbox-file"
    }  # fmt: skip


def test_no_room_for_it_is_said(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "missing"))
    with pytest.raises(StoreError, match="No temporary folder can be made"):
        Scratch("test")
