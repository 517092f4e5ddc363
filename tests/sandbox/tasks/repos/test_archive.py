"""Archives: what is refused."""

import tarfile
from pathlib import Path

import pytest

from sandbox.model.errors import RepositoryError
from sandbox.tasks.repos.archive import read
from tests.sandbox.tasks.repos.gadget import pack_archive


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a/../../x": "x"}, "not below its top folder"),
        ({"/a/x": "x"}, "not below its top folder"),
        ({"x": "x"}, "not below its top folder"),
        ({"a/.git/hooks/x": "x"}, "git would take for its own"),
        ({"a/.GIT/x": "x"}, "git would take for its own"),
        ({"a/x": special("a/x", tarfile.SYMTYPE, "/etc/passwd")}, "neither a file nor a folder"),
        ({"a/x": special("a/x", tarfile.LNKTYPE, "a/y")}, "neither a file nor a folder"),
        ({"a/x": special("a/x", tarfile.CHRTYPE)}, "neither a file nor a folder"),
    ],
)
def test_hostile_archives_are_refused(
    tmp_path: Path, files: dict[str, str | tarfile.TarInfo], message: str
) -> None:
    with pytest.raises(RepositoryError, match=message):
        list(read(pack_archive(tmp_path / "a.tar.gz", files)))


@pytest.mark.parametrize("cut", [0, 10, 60])
def test_damaged_archives_are_refused(tmp_path: Path, cut: int) -> None:
    path = pack_archive(tmp_path / "a.tar.gz", {"a/x": "x" * 10_000})
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(RepositoryError, match="cannot be read"):
        list(read(path))
