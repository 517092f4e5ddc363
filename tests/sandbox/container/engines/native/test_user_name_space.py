"""Without root the engine goes on in a user name space, or says all that this machine lacks for it.

`make machine` has the whole contract, and a run, in one.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.cli.app import reported
from sandbox.container.engines.native import user_name_space
from sandbox.container.engines.native.engine import NativeEngine
from sandbox.model.errors import EngineError, NameSpaceError

USER = 1000


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine where a user who is not root has all that is needed."""
    bus = socket.socket(socket.AF_UNIX)
    bus.bind(str(tmp_path / "bus"))
    (tmp_path / "ids").write_text(f"{USER}:100000:65536\n")
    own = tmp_path / f"user.slice/user-{USER}.slice/user@{USER}.service"
    own.mkdir(parents=True)
    (own / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in user_name_space.PROGRAMS:
        (programs / name).write_text("#!/bin/sh\necho --map-auto\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv(user_name_space.RUNTIME, str(tmp_path))
    monkeypatch.setattr(user_name_space, "IDS", (tmp_path / "ids",) * 2)
    monkeypatch.setattr(user_name_space, "GROUPS", tmp_path)
    monkeypatch.setattr(os, "getuid", lambda: USER)
    monkeypatch.setattr(os, "geteuid", lambda: USER)
    yield tmp_path
    bus.close()


@pytest.mark.usefixtures("there")
def test_who_uses_the_library_is_told_how_to_start_their_program() -> None:
    with pytest.raises(NameSpaceError, match=r"Start it by `unshare --user .* -- COMMAND"):
        NativeEngine.connect()


def test_all_that_is_missing_is_said_at_once(there: Path) -> None:
    (there / "programs/newuidmap").unlink()
    (there / "programs/unshare").write_text("#!/bin/sh\n")
    (there / "ids").write_text("somebody:100000:65536\n")
    groups = next(there.rglob("cgroup.controllers"))
    groups.write_text("pids\n")
    with pytest.raises(EngineError) as caught:
        NativeEngine.connect()
    assert not isinstance(caught.value, NameSpaceError)
    for said in ("package uidmap", "util-linux 2.38", "range of ids", "cpu, memory is missing"):
        assert said in caught.value.message
    groups.unlink()
    with pytest.raises(EngineError, match="cpu, memory, pids is missing"):
        NativeEngine.connect()


@pytest.mark.usefixtures("there")
def test_a_command_begins_anew_with_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[list[str]] = []

    def execute(program: str, words: list[str]) -> None:
        begun.append([program, *words])
        raise SystemExit

    monkeypatch.setattr(os, "execvp", execute)
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", "sandbox", "run", "a b"])

    def connect() -> None:
        NativeEngine.connect()

    with pytest.raises(SystemExit):
        reported(connect)()
    words = ["unshare", *user_name_space.COMMAND, sys.executable, "-m", "sandbox", "run", "a b"]
    assert begun == [words]


def test_a_process_knows_whether_it_is_in_one() -> None:
    assert not user_name_space.is_within()
    program = (
        "from sandbox.container.engines.native.user_name_space import is_within as i; print(i())"
    )
    command = ["unshare", "--user", "--map-root-user", sys.executable, "-c", program]
    assert subprocess.check_output(command, text=True) == "True\n"
