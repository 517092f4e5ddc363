import io
import os
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.container.engines.context import EPOCH, archive
from sandbox.model.errors import ImageError


def fill(folder: Path) -> Path:
    folder.mkdir()
    (folder / "b").write_bytes(b"x" * 1000)
    (folder / "a").mkdir()
    (folder / "a/run").write_text("#!/bin/sh\n")
    (folder / "a/run").chmod(0o755)
    (folder / "link").symlink_to("a/run")
    (folder / os.fsdecode(b"\xff\n")).write_bytes(b"")
    return folder


def test_the_archive_depends_on_names_contents_and_modes_alone(tmp_path: Path) -> None:
    first, second = fill(tmp_path / "first"), fill(tmp_path / "second")
    os.utime(second / "b", (1, 1))
    (second / "b").chmod(0o600)
    data = b"".join(archive(first))
    assert data == b"".join(archive(second))
    (second / "b").chmod(0o700)
    assert data != b"".join(archive(second))


def test_the_archive_holds_what_the_folder_holds(tmp_path: Path) -> None:
    data = b"".join(archive(fill(tmp_path / "folder")))
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        members = {member.name: member for member in tar}
        assert list(members) == ["a", "a/run", "b", "link", os.fsdecode(b"\xff\n")]
        assert {(each.uid, each.gid, each.mtime) for each in members.values()} == {(0, 0, EPOCH)}
        assert (members["a/run"].mode, members["b"].mode) == (0o755, 0o644)
        assert members["link"].linkname == "a/run"
        file = tar.extractfile("b")
        assert file is not None
        assert file.read() == b"x" * 1000


@given(size=st.integers(0, 3000))
def test_every_size_is_padded_to_whole_blocks(
    size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("context")
    (folder / "file").write_bytes(b"y" * size)
    data = b"".join(archive(folder))
    assert len(data) % 512 == 0
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        assert [member.size for member in tar] == [size]


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ImageError, match="pipe"):
        list(archive(tmp_path))


def test_a_folder_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="none"):
        list(archive(tmp_path / "none"))
