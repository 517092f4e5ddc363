"""Manifests: complete, stable, and different for every difference."""

import errno
import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.model.session import FileKind
from tests.sandbox.container.supervisor.local import SELF, Local

root_only = pytest.mark.skipif(os.getuid() != 0, reason="mounts")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "folder" / "deep").mkdir(parents=True)
    (root / "file").write_bytes(b"content")
    (root / "folder" / "deep" / "inner").write_bytes(b"inner")
    (root / "link").symlink_to("/etc")
    (root / "dangling").symlink_to(b"\xffnowhere")
    os.mkfifo(root / "fifo")
    Path(os.fsdecode(os.fsencode(root) + b"/new\nline\xff")).write_bytes(b"odd")
    return root


def every(root: Path) -> set[bytes]:
    return {os.fsencode(path) for path in (root, *root.rglob("*"))}


@pytest.mark.parametrize("digest", [False, True])
def test_it_holds_everything_once(local: Local, root: Path, digest: bool) -> None:
    found = local.supervisor.manifest([str(root)], digest=digest)
    assert found.keys() == every(root)
    assert local.supervisor.manifest([str(root) + "/"], digest=digest) == found
    for path, record in found.items():
        entry, state = local.supervisor.entry(path, record), os.lstat(path)
        assert (entry.path, entry.mode, entry.problem) == (path, state.st_mode & 0o7777, 0)
        assert (entry.uid, entry.gid, entry.inode) == (state.st_uid, state.st_gid, state.st_ino)
        assert (entry.size, entry.ctime_ns) == (state.st_size, state.st_ctime_ns)
        assert entry.target == (
            os.fsencode(Path(os.fsdecode(path)).readlink())
            if entry.kind is FileKind.SYMLINK
            else b""
        )
        plain = digest and entry.kind is FileKind.FILE
        assert entry.digest == (
            hashlib.sha256(Path(os.fsdecode(path)).read_bytes()).hexdigest() if plain else ""
        )


@pytest.mark.parametrize("digest", [False, True])
def test_of_what_was_changed_since_a_time_alone(local: Local, root: Path, digest: bool) -> None:
    since = max(os.lstat(path).st_ctime_ns for path in every(root))
    assert local.supervisor.manifest([str(root)], digest=digest, since=since) == {}
    time.sleep(0.05)
    inner = root / "folder" / "deep" / "inner"
    inner.chmod(0o600)
    found = local.supervisor.manifest([str(root)], digest=digest, since=since)
    whole = local.supervisor.manifest([str(root)], digest=digest)
    assert found == {os.fsencode(inner): whole[os.fsencode(inner)]}


def test_roots_are_joined_and_missing_ones_are_not_there(local: Local, root: Path) -> None:
    roots = [str(root / "folder"), str(root / "none"), str(root / "file"), str(root / "link")]
    inner = os.fsencode(root / "folder" / "deep" / "inner")
    found = local.supervisor.manifest(roots)
    assert {*map(os.fsencode, (roots[0], roots[2], roots[3])), inner} < found.keys()
    assert len(found) == 5
    assert local.supervisor.manifest([]) == {}
    with pytest.raises(OSError, match="Invalid argument"):
        local.supervisor.manifest(["relative"])


def test_what_is_excluded_is_left_out(local: Local, root: Path) -> None:
    excluding = [str(root / "folder" / "deep"), str(root / "fi"), str(root / "file") + "/"]
    found = local.supervisor.manifest([str(root)], excluding=excluding)
    gone = {os.fsencode(root / name) for name in ("folder/deep", "folder/deep/inner", "file")}
    assert found.keys() == every(root) - gone


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=200), st.binary(max_size=200))
def test_a_record_changes_when_the_file_does(
    local: Local, root: Path, old: bytes, new: bytes
) -> None:
    path = root / "file"
    path.write_bytes(old)
    before = local.supervisor.manifest([str(root)], digest=True)
    path.write_bytes(new)
    os.utime(path, ns=(0, 0))
    after = local.supervisor.manifest([str(root)], digest=True)
    name = os.fsencode(path)
    one, other = (local.supervisor.entry(name, each[name]) for each in (before, after))
    assert (one.digest == other.digest) == (old == new)
    assert {key for key in before if before[key] != after[key]} <= {name}
    assert before.keys() == after.keys()


@pytest.mark.parametrize("size", [*range(54, 67), 119, 120, 128, 65_536, 4_194_305])
def test_digests_are_right_for_every_padding(local: Local, tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    (tmp_path / "file").write_bytes(data)
    name = os.fsencode(tmp_path / "file")
    record = local.supervisor.manifest([str(tmp_path)], digest=True)[name]
    assert local.supervisor.entry(name, record).digest == hashlib.sha256(data).hexdigest()


def test_known_digests(local: Local, tmp_path: Path) -> None:
    """The examples of FIPS 180-4."""
    vectors = {
        b"": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        b"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        b"a" * 1_000_000: "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
    }
    for number, data in enumerate(vectors):
        (tmp_path / str(number)).write_bytes(data)
    found = local.supervisor.manifest([str(tmp_path)], digest=True)
    for number, digest in enumerate(vectors.values()):
        name = os.fsencode(tmp_path / str(number))
        assert local.supervisor.entry(name, found[name]).digest == digest


def test_many_and_long_names(local: Local, tmp_path: Path) -> None:
    for number in range(40):
        folder = tmp_path / f"{number:0200}"
        folder.mkdir()
        for each in range(100):
            (folder / f"{each:0240}").touch()
    assert local.supervisor.manifest([str(tmp_path)]).keys() == every(tmp_path)


def dig(root: Path, name: str, depth: int) -> None:
    """Nests folders deeper than any path may be long."""
    at = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=at)
        below = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("bottom", os.O_CREAT, dir_fd=at))
    os.close(at)


def test_deep_trees_are_walked_to_their_end(local: Local, tmp_path: Path) -> None:
    dig(tmp_path, "d" * 100, 100)
    (tmp_path / "after").touch()
    found = local.supervisor.manifest([str(tmp_path)])
    assert len(found) == 1 + 100 + 1 + 1
    assert any(path.endswith(b"/bottom") and len(path) > 10_000 for path in found)
    shutil.rmtree(tmp_path / ("d" * 100))


def test_what_is_too_deep_is_named(local: Local, tmp_path: Path) -> None:
    dig(tmp_path, "d" * 200, 120)
    found = local.supervisor.manifest([str(tmp_path)])
    problems = [local.supervisor.entry(*item).problem for item in found.items()]
    assert [each for each in problems if each] == [errno.ENAMETOOLONG]
    shutil.rmtree(tmp_path / ("d" * 200))


@pytest.fixture
def mounted(root: Path) -> Iterator[Path]:
    place = root / "mounted"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "tmpfs", str(place)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    (place / "file").touch()
    yield place
    subprocess.run(["umount", str(place)], check=True)


@root_only
def test_other_file_systems_are_left_out(local: Local, root: Path, mounted: Path) -> None:
    found = local.supervisor.manifest([str(root)])
    assert not any(path.startswith(os.fsencode(mounted)) for path in found)
    assert os.fsencode(root / "folder" / "deep" / "inner") in found
    assert os.fsencode(mounted / "file") in local.supervisor.manifest([str(mounted)])


def test_a_walk_of_what_changes_meanwhile_ends(local: Local) -> None:
    found = local.supervisor.manifest(["/proc/self"], digest=True)
    assert b"/proc/self" in found
    assert local.supervisor.manifest([f"/proc/{local.process.pid}"], digest=True).keys()
    assert local.run("true", user=SELF).exit_code == 0
