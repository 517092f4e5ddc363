"""Single files: confinement, users, whole or untouched."""

import errno
import gc
import os
import resource
import socket
import subprocess
import tempfile
import tracemalloc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.model.session import FileKind, User
from tests.sandbox.container.supervisor.local import SELF, Local, Start

root_only = pytest.mark.skipif(os.getuid() != 0, reason="switches users or mounts")
ODD = [b"a b", b"new\nline", b"\xff\xfe", "ü".encode(), b"-rf", b"..."]
SELF_IDS = (SELF.uid, SELF.gid)
OTHER = User(23461, 23461)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that other users reach too."""
    with tempfile.TemporaryDirectory(prefix="sandbox-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def world(public: Path) -> Path:
    """`inside` is what may not be left."""
    inside = public / "inside"
    (inside / "folder").mkdir(parents=True)
    (public / "secret").write_bytes(b"secret")
    (public / "inside-out").mkdir()
    (public / "inside-out" / "file").write_bytes(b"secret")
    (inside / "file").write_bytes(b"content")
    (inside / "folder" / "inner").write_bytes(b"inner")
    (inside / "link").symlink_to("folder")
    (inside / "link-to-file").symlink_to("folder/inner")
    (inside / "out").symlink_to("..")
    (inside / "out-file").symlink_to("../secret")
    (inside / "absolute").symlink_to(public / "secret")
    (inside / "loop").symlink_to("loop")
    return public


def test_a_large_file_is_sent_without_a_second_copy(local: Local, tmp_path: Path) -> None:
    data = bytearray(32 << 20)
    tracemalloc.start()
    try:
        local.supervisor.write("large", data, beneath=os.fsencode(tmp_path), user=SELF)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (tmp_path / "large").stat().st_size == len(data)
    assert peak < len(data) // 8


class _Held:
    """Something that a caller holds."""


def test_who_was_refused_a_file_is_not_kept(local: Local, tmp_path: Path) -> None:
    def refused() -> weakref.ref[_Held]:
        held = _Held()
        with pytest.raises(FileNotFoundError):
            local.supervisor.read(os.fsencode(tmp_path / "nothing"))
        return weakref.ref(held)

    gc.disable()
    try:
        assert refused()() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("name", ODD)
def test_any_name_and_any_bytes(local: Local, tmp_path: Path, name: bytes) -> None:
    data = bytes(range(256)) * 5000
    place = os.fsencode(tmp_path)
    local.supervisor.write(name, data, beneath=place, user=SELF, mode=0o640)
    assert (tmp_path / os.fsdecode(name)).read_bytes() == data
    assert local.supervisor.read(name, beneath=place) == data
    assert local.supervisor.read(place + b"/" + name, offset=255, limit=3) == b"\xff\x00\x01"
    (entry,) = local.supervisor.list(place)
    assert (entry.path, entry.mode, entry.size) == (name, 0o640, len(data))
    local.supervisor.remove(name, beneath=place, user=SELF)
    assert local.supervisor.list(place) == []


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 262_144, 5_000_001])
def test_any_size(local: Local, tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    local.supervisor.write(str(tmp_path / "file"), data, user=SELF)
    assert local.supervisor.read(str(tmp_path / "file")) == data
    assert local.supervisor.read(str(tmp_path / "file"), offset=size + 1) == b""
    assert local.supervisor.read(str(tmp_path / "file"), limit=0) == b""


def test_what_has_no_size_is_read_to_its_end(local: Local) -> None:
    assert local.supervisor.read("/proc/version") == Path("/proc/version").read_bytes()


@pytest.mark.parametrize(
    "path", ["../secret", "folder/../../secret", "out/secret", "out-file", "absolute", "/secret"]
)
def test_nothing_leads_out(local: Local, world: Path, path: str) -> None:
    inside = str(world / "inside")
    for call in (
        lambda: local.supervisor.read(path, beneath=inside),
        lambda: local.supervisor.write(path, b"x", beneath=inside, user=SELF),
        lambda: local.supervisor.stat(path, beneath=inside, follow=True),
    ):
        with pytest.raises(OSError) as caught:
            call()
        assert caught.value.errno == errno.EXDEV
        assert caught.value.filename == path
    assert (world / "secret").read_bytes() == b"secret"


def test_an_absolute_path_must_lie_beneath_in_its_text(local: Local, world: Path) -> None:
    inside = str(world / "inside")
    for beneath in (inside, inside + "/"):
        assert local.supervisor.read(inside + "/file", beneath=beneath) == b"content"
        for path in (str(world / "inside-out" / "file"), str(world / "secret")):
            with pytest.raises(PermissionError) as caught:
                local.supervisor.read(path, beneath=beneath)
            assert caught.value.errno == errno.EXDEV
    assert local.supervisor.read(str(world / "inside" / "absolute")) == b"secret"


def test_links_are_followed_within(local: Local, world: Path) -> None:
    inside = str(world / "inside")
    assert local.supervisor.read("link/inner", beneath=inside) == b"inner"
    assert local.supervisor.read("link-to-file", beneath=inside) == b"inner"
    assert local.supervisor.read("folder/../file", beneath=inside) == b"content"
    local.supervisor.write("link-to-file", b"new", beneath=inside, user=SELF)
    assert (world / "inside" / "link-to-file").is_symlink()
    assert (world / "inside" / "folder" / "inner").read_bytes() == b"new"


@pytest.mark.parametrize("path", ["link/inner", "link-to-file", "loop"])
def test_links_are_refused_if_asked_to(local: Local, world: Path, path: str) -> None:
    with pytest.raises(OSError) as caught:
        local.supervisor.read(path, beneath=str(world / "inside"), follow=False)
    assert caught.value.errno == errno.ELOOP


def test_an_entry_is_what_it_is(local: Local, world: Path) -> None:
    inside = world / "inside"
    os.mkfifo(inside / "fifo")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(inside / "socket"))
    expected = {
        "file": FileKind.FILE,
        "folder": FileKind.DIRECTORY,
        "link": FileKind.SYMLINK,
        "fifo": FileKind.FIFO,
        "socket": FileKind.SOCKET,
    }
    for name, kind in expected.items():
        entry, found = local.supervisor.stat(name, beneath=str(inside)), (inside / name).lstat()
        assert (entry.path, entry.kind) == (name.encode(), kind)
        assert (entry.mode, entry.uid, entry.gid) == (found.st_mode & 0o7777, *SELF_IDS)
        assert (entry.size, entry.inode, entry.links) == (
            found.st_size,
            found.st_ino,
            found.st_nlink,
        )
        assert (entry.mtime_ns, entry.ctime_ns) == (found.st_mtime_ns, found.st_ctime_ns)
    assert local.supervisor.stat("link", beneath=str(inside)).target == b"folder"
    assert local.supervisor.stat("/dev/null").kind is FileKind.CHARACTER_DEVICE
    with pytest.raises(FileNotFoundError):
        local.supervisor.stat("nothing", beneath=str(inside))


def test_only_regular_files_are_read_and_written(local: Local, world: Path) -> None:
    inside = world / "inside"
    os.mkfifo(inside / "fifo")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(inside / "socket"))
    for name, number in (
        ("fifo", errno.EINVAL),
        ("socket", errno.EINVAL),
        ("folder", errno.EISDIR),
    ):
        for call in (
            lambda path: local.supervisor.read(path, beneath=str(inside)),
            lambda path: local.supervisor.write(path, b"x", beneath=str(inside), user=SELF),
        ):
            with pytest.raises(OSError) as caught:
                call(name)
            assert caught.value.errno == number, name
    with pytest.raises(NotADirectoryError):
        local.supervisor.list(str(inside / "file"))
    with pytest.raises(OSError):
        local.supervisor.read("/dev/zero")


def test_missing_folders_are_made_if_asked_to(local: Local, world: Path) -> None:
    inside = str(world / "inside")
    with pytest.raises(FileNotFoundError):
        local.supervisor.write("new/deep/file", b"x", beneath=inside, user=SELF)
    local.supervisor.write("new//deep/./file", b"x", beneath=inside, user=SELF, parents=True)
    assert (world / "inside" / "new" / "deep" / "file").read_bytes() == b"x"
    assert (world / "inside" / "new").stat().st_mode & 0o7777 == 0o755
    for path in ("../new/file", "out/new/file"):
        with pytest.raises(OSError):
            local.supervisor.write(path, b"x", beneath=inside, user=SELF, parents=True)
    assert not (world / "new").exists()
    deep = "/".join("d" * 500) + "/file"
    local.supervisor.write(deep, b"x", beneath=inside, user=SELF, parents=True)
    assert local.supervisor.read(deep, beneath=inside) == b"x"


def test_an_old_file_keeps_its_mode(local: Local, world: Path) -> None:
    path = world / "inside" / "file"
    path.chmod(0o751)
    local.supervisor.write(str(path), b"new", user=SELF)
    assert (path.read_bytes(), path.stat().st_mode & 0o7777) == (b"new", 0o751)
    local.supervisor.write(str(path), b"newer", user=SELF, mode=0o600)
    assert (path.read_bytes(), path.stat().st_mode & 0o7777) == (b"newer", 0o600)
    local.supervisor.write(str(world / "new"), b"", user=SELF)
    assert (world / "new").stat().st_mode & 0o7777 == 0o644


def test_a_reader_sees_the_old_or_the_new_file(local: Local, world: Path) -> None:
    path = world / "inside" / "file"
    with path.open("rb") as old:
        local.supervisor.write(str(path), b"new", user=SELF)
        assert old.read() == b"content"
    assert path.read_bytes() == b"new"
    assert {each.name for each in path.parent.iterdir() if each.name.startswith(".")} == set()


def test_a_file_that_does_not_fit_leaves_the_old_one(start: Start, world: Path) -> None:
    local = start(limits={resource.RLIMIT_FSIZE: 1_000_000})
    path = world / "inside" / "file"
    for size in (1_000_001, 3_000_000):
        with pytest.raises(OSError) as caught:
            local.supervisor.write(str(path), bytes(size), user=SELF)
        assert caught.value.errno == errno.EFBIG
    assert path.read_bytes() == b"content"
    before = {"file", "folder", "link", "link-to-file", "out", "out-file", "absolute", "loop"}
    assert {each.name for each in path.parent.iterdir()} == before
    local.supervisor.write(str(path), bytes(1000), user=SELF)
    assert path.read_bytes() == bytes(1000)


@pytest.fixture
def tiny(public: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    place = public / "tiny"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@root_only
def test_a_full_disk_leaves_the_old_file(local: Local, tiny: Path) -> None:
    path = tiny / "file"
    path.write_bytes(b"content")
    with pytest.raises(OSError) as caught:
        local.supervisor.write(str(path), bytes(3_000_000), user=SELF)
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == b"content"
    assert [each.name for each in tiny.iterdir()] == ["file"]
    path.chmod(0o666)
    tiny.chmod(0o755)
    with pytest.raises(OSError) as caught:  # in place, for the folder takes no new file
        local.supervisor.write(str(path), bytes(3_000_000), user=OTHER)
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == b"content"


@root_only
def test_the_kernel_checks_the_users_rights(local: Local, world: Path) -> None:
    inside = world / "inside"
    (inside / "file").chmod(0o600)
    supervisor = local.supervisor
    for call in (
        lambda: supervisor.read(str(inside / "file"), user=OTHER),
        lambda: supervisor.write(str(inside / "file"), b"x", user=OTHER),
        lambda: supervisor.write(str(inside / "new"), b"x", user=OTHER),
        lambda: supervisor.write(str(inside / "a/b"), b"x", user=OTHER, parents=True),
        lambda: supervisor.remove(str(inside / "file"), user=OTHER),
    ):
        with pytest.raises(PermissionError):
            call()
    assert (inside / "file").read_bytes() == b"content"
    inside.chmod(0o700)
    with pytest.raises(PermissionError):
        supervisor.list(str(inside), user=OTHER)
    inside.chmod(0o777)
    supervisor.write(str(inside / "mine"), b"x", user=OTHER)
    assert ((inside / "mine").stat().st_uid, (inside / "mine").stat().st_gid) == (
        OTHER.uid,
        OTHER.gid,
    )
    assert supervisor.read(str(inside / "mine"), user=User(0, 0)) == b"x"


@root_only
def test_a_file_in_a_folder_of_anothers_is_written_in_place(local: Local, world: Path) -> None:
    path = world / "inside" / "file"
    path.chmod(0o666)
    before = path.stat()
    for data in (os.urandom(700_000), b"short"):
        local.supervisor.write(str(path), data, user=OTHER)
        assert path.read_bytes() == data
    after = path.stat()
    assert (after.st_ino, after.st_uid, after.st_mode) == (before.st_ino, 0, before.st_mode)


@root_only
def test_a_replaced_file_keeps_its_owner(local: Local, world: Path) -> None:
    path = world / "inside" / "file"
    os.chown(path, OTHER.uid, 77)
    path.chmod(0o4755)
    local.supervisor.write(str(path), b"new", user=SELF)
    found = path.stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o7777) == (OTHER.uid, 77, 0o755)


def test_files_links_and_empty_folders_are_removed(local: Local, world: Path) -> None:
    inside = world / "inside"
    with pytest.raises(OSError) as caught:
        local.supervisor.remove("folder", beneath=str(inside), user=SELF)
    assert caught.value.errno == errno.ENOTEMPTY
    for name in ("link", "out-file", "folder/inner", "folder", "file"):
        local.supervisor.remove(name, beneath=str(inside), user=SELF)
        assert not (inside / name).is_symlink()
        assert not (inside / name).exists()
    for name in (".", "..", "/", ""):
        with pytest.raises(OSError):
            local.supervisor.remove(name, beneath=str(inside), user=SELF)
    assert (world / "secret").exists()


def test_a_large_folder_is_listed_in_order(local: Local, tmp_path: Path) -> None:
    names = sorted(f"{number:0100}".encode() for number in range(3000))
    for name in names:
        (tmp_path / name.decode()).touch()
    assert [entry.path for entry in local.supervisor.list(str(tmp_path))] == names


def test_paths_that_are_too_long_are_errors(local: Local, tmp_path: Path) -> None:
    for path in ("x" * 5000, "x" * 300, "x/" * 3000):
        with pytest.raises(OSError) as caught:
            local.supervisor.write(path, b"", beneath=str(tmp_path), user=SELF, parents=True)
        assert caught.value.errno == errno.ENAMETOOLONG
    with pytest.raises(OSError, match="Invalid argument"):
        local.supervisor.read("a\0b")


parts = st.sampled_from(["..", ".", "", "folder", "link", "out", "absolute", "loop", "file", "x"])


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(parts, min_size=1, max_size=7).map("/".join), st.booleans())
def test_no_path_reads_what_is_outside(local: Local, world: Path, path: str, follow: bool) -> None:
    inside = world / "inside"
    try:
        data = local.supervisor.read(path, beneath=str(inside), follow=follow)
    except OSError:
        return
    assert data != b"secret"
    assert (inside / path.lstrip("/")).resolve().is_relative_to(inside)
