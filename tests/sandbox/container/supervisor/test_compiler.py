"""The binary: static, once for each state of its sources, from any number of builders."""

import platform
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.container.supervisor import compiler
from sandbox.container.supervisor.compiler import BuildError
from sandbox.model import places
from sandbox.model.errors import UsageError

ELF_MACHINE = {"x86_64": 62, "aarch64": 183}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "alias"), [("x86_64", "amd64"), ("aarch64", "arm64")])
def test_a_static_binary_for_each_architecture(name: str, alias: str) -> None:
    path = compiler.binary(name)
    assert compiler.binary(alias) == path
    head = path.read_bytes()
    assert head[:4] == b"\x7fELF"
    assert int.from_bytes(head[18:20], "little") == ELF_MACHINE[name]
    assert b"ld-linux" not in head
    assert b"ld-musl" not in head
    assert path.stat().st_mode & 0o555 == 0o555


def test_another_architecture_is_refused() -> None:
    with pytest.raises(UsageError, match="riscv64"):
        compiler.binary("riscv64")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Small sources and no binary yet; the compiler's own cache is shared, for it is slow."""
    compiler.binary("x86_64")
    folder = tmp_path / "cache" / "supervisor"
    folder.mkdir(parents=True)
    (folder / "zig").symlink_to(places.cache().absolute() / "supervisor" / "zig")
    monkeypatch.setenv("SANDBOX_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "source"
    source.mkdir()
    (source / "main.c").write_text("int main(void) { return 7; }\n")
    monkeypatch.setattr(compiler, "SOURCE", source)
    return source


@pytest.mark.slow
def test_builders_at_the_same_time_do_no_harm(elsewhere: Path) -> None:
    with ThreadPoolExecutor(3) as pool:
        paths = set(pool.map(compiler.binary, ["x86_64"] * 3))
    (path,) = paths
    assert [each for each in path.parent.iterdir() if each.is_file()] == [path]
    if platform.machine() == "x86_64":
        assert subprocess.run([path], check=False).returncode == 7


@pytest.mark.slow
def test_changed_sources_are_another_binary(elsewhere: Path) -> None:
    first = compiler.binary("x86_64")
    stamp = first.stat().st_mtime_ns
    assert compiler.binary("x86_64").stat().st_mtime_ns == stamp
    (elsewhere / "main.c").write_text("int main(void) { return 8; }\n")
    assert compiler.binary("x86_64") != first


def test_a_failed_build_shows_why_and_leaves_nothing(elsewhere: Path) -> None:
    (elsewhere / "main.c").write_text("int main(void) { return nothing; }\n")
    with pytest.raises(BuildError, match="nothing") as caught:
        compiler.binary("x86_64")
    assert caught.value.next_step
    folder = elsewhere.parent / "cache" / "supervisor"
    assert not [each for each in folder.iterdir() if each.is_file()]


def test_a_cache_that_cannot_be_written_is_an_error(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_CACHE", str(elsewhere / "main.c" / "cache"))
    with pytest.raises(BuildError, match="SANDBOX_CACHE"):
        compiler.binary("x86_64")
