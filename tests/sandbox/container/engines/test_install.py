import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox.container.engines import control_groups, daemon, install, packages
from sandbox.model.errors import EngineError


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "docker/containerd").mkdir(parents=True)
    (tmp_path / "containerd").mkdir()
    return tmp_path


@pytest.fixture
def gone() -> int:
    """The id of a process that has ended."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


def named(folder: Path, name: str) -> Path:
    """A program of this name that runs until its input ends."""
    program = folder / name
    shutil.copy(shutil.which("cat") or "/bin/cat", program)
    return program


@contextmanager
def going(program: Path) -> Iterator[int]:
    """The id of a process of a program, once the kernel calls it by its name.

    Popen returns when the new program's descriptors are closed, which is shortly before that.
    """
    with subprocess.Popen([program], stdin=subprocess.PIPE) as process:
        end = time.monotonic() + 60
        while Path(f"/proc/{process.pid}/comm").read_text().strip() != program.name:
            assert time.monotonic() < end
        yield process.pid
        process.communicate()


def test_pid_files_of_processes_that_are_gone_are_removed(run: Path, gone: int) -> None:
    files = [run / "docker.pid", run / "docker/containerd/containerd.pid"]
    for file in files:
        file.write_text(str(gone))
    assert len(daemon.clear(run)) == 2
    assert not any(file.exists() for file in files)
    assert daemon.clear(run) == []


@pytest.mark.parametrize(
    "content",
    [pytest.param(str(os.getpid()), id="of these tests"), "", "nonsense", "-1"],
)
def test_pid_files_that_name_another_program_are_removed(run: Path, content: str) -> None:
    (run / "docker.pid").write_text(content)
    assert len(daemon.clear(run)) == 1


def test_a_zombie_is_no_engine(run: Path, tmp_path: Path) -> None:
    with subprocess.Popen([named(tmp_path, "dockerd")], stdin=subprocess.PIPE) as process:
        (run / "docker.pid").write_text(str(process.pid))
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert len(daemon.clear(run)) == 1


def test_pid_files_of_living_engines_are_kept(run: Path, tmp_path: Path) -> None:
    with going(named(tmp_path, "dockerd")) as process:
        (run / "docker.pid").write_text(str(process))
        assert daemon.clear(run) == []


def test_a_socket_where_nobody_listens_is_removed(run: Path) -> None:
    path = run / "containerd/containerd.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        assert daemon.clear(run) == []
    assert len(daemon.clear(run)) == 1
    assert not path.exists()


def test_a_program_is_found_by_its_name(tmp_path: Path) -> None:
    assert daemon.running("sandbox-none") is None
    with going(named(tmp_path, "sandbox-some")) as process:
        assert daemon.running("sandbox-some") == process


def test_a_daemon_that_ends_at_once_is_reported_with_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "dockerd"
    broken.write_text("#!/bin/sh\necho the reason; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("SANDBOX_CACHE", str(tmp_path / "cache"))
    with pytest.raises(EngineError, match="the reason"):
        daemon.start(tmp_path / "none.sock", (), lambda _line: None)


@pytest.mark.engine
def test_where_an_engine_answers_nothing_is_done() -> None:
    lines: list[str] = []
    install.mend(lines.append)
    assert lines == []


def test_an_engine_that_a_person_chose_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    with pytest.raises(EngineError, match="DOCKER_HOST"):
        install.mend(lambda _line: None)


def test_who_is_not_root_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "SOCKET", tmp_path / "docker.sock")
    monkeypatch.setattr(install, "_sockets", list)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("SANDBOX_CACHE", str(tmp_path))
    with pytest.raises(EngineError, match="only root") as caught:
        install.mend(lambda _line: None)
    assert "systemctl start docker" in caught.value.next_step


def test_packages_that_are_there_are_not_installed_again() -> None:
    lines: list[str] = []
    if packages.is_debian():
        packages.install(["dpkg"], lines.append)
    packages.install([], lines.append)
    assert lines == []


def test_packages_need_a_known_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = tmp_path / "os-release"
    release.write_text('ID=fedora\nID_LIKE="rhel centos"\n')
    monkeypatch.setattr(packages, "OS_RELEASE", release)
    with pytest.raises(EngineError, match="sandbox-test-missing"):
        packages.install(["sandbox-test-missing"], lambda _line: None)
    release.write_text('NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n')
    assert packages.is_debian()


def test_control_groups_are_not_mounted_over_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("proc /proc proc rw 0 0\n")
    (tmp_path / "cgroup").mkdir()
    (tmp_path / "cgroup/something").touch()
    monkeypatch.setattr(control_groups, "MOUNTS", mounts)
    monkeypatch.setattr(control_groups, "FOLDER", tmp_path / "cgroup")
    assert not control_groups.is_mounted()
    with pytest.raises(EngineError, match="No control groups"):
        control_groups.mount(lambda _line: None)
