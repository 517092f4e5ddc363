"""Execs that are held: what is decided, what tries to get by, and what is left."""

import errno
import os
import platform
import signal
import threading
import time
from pathlib import Path

import pytest

from sandbox.model.coverage import Coverage
from sandbox.model.errors import SessionLostError
from sandbox.model.session import Exec, ExecOutcome, Interception
from tests.sandbox.container.supervisor.local import SECONDS, SELF, Start
from tests.sandbox.container.supervisor.watched import Watched, copied, only, watched


def test_a_refused_exec_does_not_run(held: Watched) -> None:
    held.recorder.decide = lambda seen: errno.EPERM if seen.program == b"/bin/touch" else 0
    done = held.shell("/bin/touch touched; echo $?; /bin/true && echo true")
    assert done.stdout == (b"126\ntrue\n" if held.coverage == "exec" else b"137\ntrue\n")
    assert not (held.folder / "touched").exists()
    assert held.recorder.end("touch").outcome is ExecOutcome.REFUSED


def test_the_commands_own_program_is_decided_on(held: Watched) -> None:
    held.recorder.decide = lambda _: errno.EACCES
    with pytest.raises(PermissionError):
        held.run("/bin/true")
    assert held.recorder.end("true").outcome is ExecOutcome.REFUSED


def test_nobody_to_ask_is_a_refusal(held: Watched) -> None:
    held.local.supervisor.on_exec(None)
    with pytest.raises(PermissionError):
        held.run("/bin/true")


@pytest.mark.parametrize("kind", [RuntimeError, KeyboardInterrupt])
def test_an_observer_that_fails_ends_the_session(held: Watched, kind: type[BaseException]) -> None:
    def fail(_: Exec) -> int:
        raise kind("broken")

    held.recorder.decide = fail
    with pytest.raises(SessionLostError, match="broken"):
        held.run("/bin/true")


def test_a_held_process_that_is_killed_is_told_as_gone(held: Watched) -> None:
    victims: list[int] = []

    def kill(seen: Exec) -> int:
        if b"true" in seen.program:
            victims.append(seen.pid)
            os.kill(seen.pid, signal.SIGKILL)
        return 0

    held.recorder.decide = kill
    held.shell("/bin/true; exit 0")
    told = {ExecOutcome.GONE, ExecOutcome.EXITED if held.tells_signals else ExecOutcome.UNKNOWN}
    assert held.recorder.end("true").outcome in told
    assert held.recorder.end("true").exit_code is None
    assert len(victims) == 1


@pytest.mark.slow
def test_a_deadline_ends_what_is_held(held: Watched) -> None:
    over = threading.Event()
    held.recorder.decide = lambda seen: int(not seen.first and over.wait(1))
    done = held.shell("/bin/true", timeout=0.3)
    assert done.timed_out
    assert held.local.supervisor.usage().processes == 0


@pytest.mark.parametrize("how", ["log", "hold"])
def test_without_a_listener_only_the_command_itself_is_seen(
    start: Start, shared: Path, how: Interception
) -> None:
    local = start("unix", "--top-level")
    assert not {"exec_log", "exec_hold", "exec_trace"} & local.supervisor.greeting.features
    plain = Watched(local, how, SELF, shared)
    assert plain.shell("/bin/true; exit 5").exit_code == 5
    assert plain.recorder.names == ["sh"]
    assert plain.recorder.ends[0].exit_code == 5
    plain.recorder.ends.clear()
    plain.recorder.decide = lambda _: errno.EPERM
    if how == "hold":
        with pytest.raises(PermissionError):
            plain.shell("true")


# ---- what tries to get by ----


@pytest.mark.parametrize("mode", ["int80", "x32"])
@pytest.mark.skipif(platform.machine() != "x86_64", reason="other numbers")
def test_another_architecture_is_refused(each: Watched, own: Path, mode: str) -> None:
    done = each.run(str(own), mode, "/bin/true")
    assert done.stdout == b"Function not implemented\n"
    assert len(each.recorder.all) == 1


@pytest.mark.parametrize("more", [(), ("wake",)], ids=["alone", "woken"])
def test_a_path_that_changes_while_it_is_held_runs_nothing_else(
    held: Watched, own: Path, more: tuple[str, ...]
) -> None:
    good, evil = copied(own, own.with_name("good")), copied(own, own.with_name("evil"))
    held.recorder.decide = only(os.fsencode(own), os.fsencode(good))
    held.run(str(own), "path", str(good), str(evil), *more)
    assert not evil.with_name("evil.mark").exists()
    outcomes = {end.outcome for end in held.recorder.ends.values()}
    assert ExecOutcome.EXITED in outcomes


def test_an_argument_that_changes_while_it_is_held_runs_nothing_else(
    held: Watched, own: Path
) -> None:
    def decide(seen: Exec) -> int:
        return errno.EPERM if b"argument-2" in seen.arguments[:2] else 0

    held.recorder.decide = decide
    held.run(str(own), "argument", "argument-1", "argument-2", str(own))
    assert not (held.folder / "mark").exists()


@pytest.mark.parametrize("script", [False, True], ids=["program", "script"])
def test_a_link_that_changes_while_it_is_held_runs_nothing_else(
    held: Watched, own: Path, *, script: bool
) -> None:
    good, evil = own.with_name("good"), own.with_name("evil")
    if script:
        good.write_text("#!/bin/sh\nexit 0\n")
        evil.write_text(f"#!{copied(own, own.with_name('interpreter'))}\n")
        evil.chmod(0o755)
        good.chmod(0o755)
    else:
        copied(own, good)
        copied(own, evil)
    held.recorder.decide = only(os.fsencode(own), os.fsencode(good))
    held.run(str(own), "link", str(good), str(evil), str(held.folder / "link"))
    assert not list(held.folder.glob("[ei]*.mark"))


# ---- what is left ----


@pytest.mark.slow
@pytest.mark.parametrize("coverage", ["exec", "ptrace"])
def test_ten_thousand_execs_leave_nothing(
    start: Start, shared: Path, own: Path, coverage: Coverage
) -> None:
    log = watched(start, "log", shared, coverage=coverage)
    process = Path(f"/proc/{log.local.process.pid}")

    def used() -> tuple[int, int]:
        pages = int((process / "statm").read_text().split()[1])
        return len(list((process / "fd").iterdir())), pages

    def used_in_the_end(descriptors: int) -> tuple[int, int]:
        """Some are closed only when the command's own parent is gone, a moment after its end."""
        deadline = time.monotonic() + SECONDS
        while used()[0] > descriptors:
            assert time.monotonic() < deadline
        return used()

    idle = used()[0]
    log.run(str(own), "flood", str(own), "400")
    before = used_in_the_end(idle)
    done = log.run(str(own), "flood", str(own), "10000", execs_told=20_000)
    assert done.exit_code == 0
    _, pages = used_in_the_end(idle)
    assert pages <= before[1] + 64
    assert len(log.recorder.all) == 10_000 + 400 + 2
    assert len(log.recorder.ends) == len(log.recorder.all)
    assert log.local.supervisor.usage().processes == 0
    assert not log.local.supervisor._execs._open


def test_the_end_of_the_host_refuses_what_is_held(held: Watched) -> None:
    asked = threading.Event()

    def die(seen: Exec) -> int:
        if not seen.first:
            asked.set()
            held.local.supervisor._stream.close()
        return 0

    held.recorder.decide = die
    with pytest.raises(SessionLostError):
        held.shell("/bin/touch touched; /bin/touch touched")
    assert asked.is_set()
    held.local.process.wait(60)
    assert not (held.folder / "touched").exists()
