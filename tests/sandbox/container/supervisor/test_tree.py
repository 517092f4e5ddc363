"""The end of process trees: deadlines, orphans, bombs, and who may not be killed."""

import os
import platform
import resource
import signal
import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

from sandbox.container.supervisor import compiler
from sandbox.model.session import User
from tests.sandbox.container.supervisor.local import Local, Start, command, start_until

root_only = pytest.mark.skipif(os.getuid() != 0, reason="limits processes of another user")

DAEMONS = "(setsid sh -c 'sleep 600 & exec sleep 600' &); setsid sleep 600 & sleep 600 &"
TARGET = f"{platform.machine()}-linux-musl"
IGNORING = "trap '' TERM INT HUP; while :; do :; done"
BOMB = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    try:
        if os.fork() == 0: os.setsid()
    except OSError:
        pass
"""


@pytest.mark.parametrize("line", [DAEMONS + " wait", IGNORING, "kill -STOP $$"])
def test_a_deadline_ends_the_whole_tree(local: Local, line: str) -> None:
    done = local.shell(line, timeout=0.3)
    assert (done.timed_out, done.killed) == (True, False)
    assert (done.exit_code, done.signal) == (None, 9)
    assert done.duration >= 0.3
    assert local.supervisor.usage().processes == 0


@pytest.mark.parametrize("name", ["STOP", "TERM", "CONT", "CHLD", "HUP"])
def test_no_signal_keeps_the_shim_from_its_work(local: Local, name: str) -> None:
    done = local.shell(f"kill -{name} $PPID; sleep 600", timeout=0.2)
    assert (done.timed_out, done.signal) == (True, 9)
    assert local.supervisor.usage().processes == 0


def test_a_lost_shim_is_told_as_a_killed_command(local: Local) -> None:
    done = local.shell("kill -KILL $PPID; exec sleep 600")
    assert (done.exit_code, done.signal, done.timed_out) == (None, 9, False)
    assert local.supervisor.kill_all() <= 1
    assert local.supervisor.usage().processes == 0


def test_a_command_that_ends_in_time_is_not_touched(local: Local) -> None:
    assert not local.run("true", timeout=60).timed_out


@root_only
def test_a_fork_bomb_ends_at_its_deadline(start: Start) -> None:
    user = User(23456, 23456)
    local = start(limits={resource.RLIMIT_NPROC: 100}, user=user)
    done = local.run("python3", "-c", BOMB, user=user, timeout=0.5)
    assert done.timed_out
    assert local.supervisor.usage().processes == 0
    assert local.run("true", user=user).exit_code == 0


@root_only
def test_no_process_left_is_an_error_not_an_end(start: Start) -> None:
    user = User(23457, 23457)
    local = start(limits={resource.RLIMIT_NPROC: 12}, user=user)
    processes = start_until(local, "Resource temporarily unavailable", user)
    assert processes
    assert local.supervisor.kill_all() >= len(processes)
    assert all(process.wait(60).killed for process in processes)
    assert local.run("true", user=user).exit_code == 0


def test_survivors_are_counted_and_live_on(local: Local) -> None:
    done = local.shell("sleep 600 & sleep 600 & exit 4")
    assert (done.exit_code, done.survivors, done.killed) == (4, 2, False)
    assert local.supervisor.usage().processes == 2
    assert local.supervisor.kill_all() == 2
    assert local.supervisor.usage().processes == 0


def test_what_was_killed_is_waited_for_before_the_answer(local: Local) -> None:
    assert local.shell("for i in $(seq 200); do sleep 600 & done").survivors == 200
    (shim,) = children(local.process.pid)
    os.kill(shim, signal.SIGSTOP)  # a busy machine
    Timer(0.5, os.kill, (shim, signal.SIGCONT)).start()
    assert local.supervisor.kill_all() == 200
    assert not children(shim)


def children(pid: int) -> list[int]:
    """Its children, the dead ones that nobody has waited for included."""
    stats = [each.parent.name for each in Path("/proc").glob("[0-9]*/stat")]
    return [int(each) for each in stats if parent(Path("/proc", each, "stat")) == pid]


def parent(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def test_survivors_are_killed_if_asked_to(local: Local) -> None:
    done = local.shell(DAEMONS + " exit 0", kill_survivors=True)
    assert done.exit_code == 0
    assert done.survivors >= 2
    assert local.supervisor.usage().processes == 0


def test_a_survivors_output_goes_on_into_nothing(local: Local, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    os.mkfifo(mark)
    script = f"(read go < {mark}; head -c 1000000 /dev/zero; echo $? > {mark}) & exit 0"
    done = local.shell(script)
    assert (done.survivors, done.stdout_bytes) == (1, 0)
    mark.write_text("go\n")
    assert mark.read_text() == "0\n"


def test_a_process_tree_is_killed_after_its_head_has_ended(local: Local) -> None:
    process = local.supervisor.start(command("/bin/sh", "-c", "sleep 600 & exit 0"))
    assert process.wait(60).survivors == 1
    process.kill()
    while local.supervisor.usage().processes:
        pass
    assert process.wait(0).killed is False


def test_one_command_is_killed_the_others_are_not(local: Local) -> None:
    one, other = (local.supervisor.start(command("/bin/sh", "-c", DAEMONS + " wait")) for _ in "12")
    while local.supervisor.usage().processes < 10:
        pass
    one.kill()
    assert one.wait(60).killed
    assert other.poll() is None
    assert local.supervisor.kill_all() >= 4
    assert other.wait(60).killed
    assert local.supervisor.kill_all() == 0


def test_one_command_may_be_left_alone_with_all_that_it_has_started(local: Local) -> None:
    script = "read word; sleep 600 & (sleep 600; exit) & read word; echo $word"
    left = local.supervisor.converse(command("/bin/sh", "-c", script))
    left.send(b"begin\n", 60)
    other = local.supervisor.start(command("/bin/sh", "-c", DAEMONS + " wait"))
    while local.supervisor.usage().processes < 4 + 5:
        pass
    assert local.supervisor.kill_all(but=left) == 5
    assert other.wait(60).killed
    assert local.supervisor.usage().processes == 4
    left.send(b"here\n", 60)
    assert left.receive(60) == b"here\n"
    assert left.wait(60).survivors == 3
    assert local.supervisor.kill_all(but=left) == 0
    assert local.supervisor.kill_all() == 3


def test_resources_are_told(local: Local) -> None:
    done = local.run("python3", "-c", "x = bytearray(b'x' * 50_000_000); sum(x)")
    assert done.peak_bytes > 50_000_000
    assert 0 < done.user_seconds + done.system_seconds < 60
    usage = local.supervisor.usage()
    if local.supervisor.greeting.features & {"cgroup1", "cgroup2"}:
        assert usage.cpu_seconds is None or usage.cpu_seconds > 0
    assert usage.processes == 0


@pytest.mark.slow
def test_a_child_of_a_process_that_ends_while_it_is_looked_at_is_killed_too(tmp_path: Path) -> None:
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", TARGET, "-static", "-D_GNU_SOURCE"]
    zig += ["-iquote", str(compiler.SOURCE)]
    tree, built = tmp_path / "tree.o", tmp_path / "hidden-child"
    source = compiler.SOURCE / "tree.c"
    cache = str(compiler.binary(platform.machine()).parent / "zig")
    known = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
    subprocess.run([*zig, "-c", "-Dopen=told_open", "-o", tree, source], env=known, check=True)
    child = Path(__file__).with_name("hidden_child.c")
    subprocess.run([*zig, "-o", built, child, tree], env=known, check=True)
    assert subprocess.run([built], timeout=60).returncode == 0
