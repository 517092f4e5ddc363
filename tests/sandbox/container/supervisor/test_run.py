"""Commands: streams, caps, standard input, errors."""

import gc
import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pytest

from sandbox.model.session import Completed, User
from tests.sandbox.container.supervisor.local import SELF, Local, Start, command, start_until

root_only = pytest.mark.skipif(os.getuid() != 0, reason="switches users")


@pytest.mark.parametrize("how", ["stdio", "unix"])
def test_both_streams_and_the_exit_code(start: Start, how: str) -> None:
    done = start(how).shell("echo out; echo err >&2; exit 3")
    assert (done.exit_code, done.signal) == (3, None)
    assert (done.stdout, done.stderr) == (b"out\n", b"err\n")
    assert (done.stdout_bytes, done.stderr_bytes, done.survivors) == (4, 4, 0)
    assert not any((done.timed_out, done.killed, done.out_of_memory))


def test_a_signal_is_told(local: Local) -> None:
    done = local.shell("kill -SEGV $$")
    assert (done.exit_code, done.signal) == (None, 11)


def test_no_command_leaves_a_core_file(local: Local) -> None:
    assert local.shell("ulimit -Hc").stdout == b"0\n"


@pytest.mark.parametrize("size", [0, 1, 65_536, 262_144, 262_145, 5_000_000])
def test_standard_input_of_any_size_comes_back(local: Local, size: int) -> None:
    data = os.urandom(size)
    assert local.run("cat", stdin=data, stdout_limit=size).stdout == data


def test_standard_input_that_nobody_reads_does_no_harm(local: Local) -> None:
    data = bytes(3_000_000)
    assert local.run("true", stdin=data).exit_code == 0
    assert local.shell("exec 0<&-; sleep .1; echo on", stdin=data).stdout == b"on\n"


def test_a_stalled_reader_holds_up_nobody(local: Local) -> None:
    process = local.supervisor.start(command("sleep", "600", stdin=bytes(3_000_000)))
    assert local.shell("echo on").stdout == b"on\n"
    process.kill()
    assert process.wait(60).killed


def test_the_caps_are_exact(local: Local) -> None:
    line = "head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2"
    done = local.shell(line, stdout_limit=70_001, stderr_limit=0)
    assert (len(done.stdout), done.stdout_bytes) == (70_001, 300_000)
    assert (done.stderr, done.stderr_bytes) == (b"", 200_000)


def test_a_gigabyte_is_counted_without_keeping_it(local: Local) -> None:
    done = local.shell("head -c 1000000000 /dev/zero", stdout_limit=1000)
    assert (len(done.stdout), done.stdout_bytes) == (1000, 1_000_000_000)
    status = Path(f"/proc/{local.process.pid}/status").read_text()
    (resident,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    assert int(resident) < 64 << 10


def test_all_output_is_there_when_the_command_ends(local: Local) -> None:
    for size in (1, 65_536, 60_000):
        done = local.shell(f"head -c {size} /dev/zero; exit 0")
        assert len(done.stdout) == size


def test_nothing_is_inherited(local: Local) -> None:
    done = local.run("env", environment={"PATH": os.environ["PATH"], "A": "b\nc"})
    assert sorted(done.stdout.split(b"\n"))[:2] == [b"", b"A=b"]
    assert b"HOME" not in done.stdout
    listed = local.shell("ls /proc/self/fd").stdout.split()
    assert len(listed) == 4  # ls itself opens one
    status = local.shell("grep -E '^Sig(Blk|Ign)' /proc/self/status; umask").stdout
    assert status.split() == [b"SigBlk:", b"0" * 16, b"SigIgn:", b"0" * 16, b"0022"]


def test_arguments_are_any_bytes(local: Local) -> None:
    argument = bytes(range(1, 256))
    assert local.run("printf", "%s", argument).stdout == argument


def test_the_working_directory_is_used(local: Local, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff\n"
    Path(os.fsdecode(folder)).mkdir()
    assert local.run("/bin/pwd", cwd=folder).stdout == folder + b"\n"


def test_what_cannot_start_says_why(local: Local, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    cases: list[tuple[type[OSError], str, dict[str, str]]] = [
        (FileNotFoundError, "sandbox-no-such-program", {}),
        (FileNotFoundError, "/no/such/program", {}),
        (PermissionError, str(plain), {}),
        (PermissionError, str(tmp_path), {}),
        (FileNotFoundError, "true", {"cwd": "/no/such/folder"}),
        (NotADirectoryError, "true", {"cwd": str(plain)}),
    ]
    for kind, program, options in cases:
        for begin in (local.supervisor.run, local.supervisor.start):
            with pytest.raises(kind) as caught:
                begin(command(program, **options))
            assert caught.value.filename == options.get("cwd", program)
            assert ("working directory" in str(caught.value)) == ("cwd" in options)
    assert local.run("true").exit_code == 0


def test_arguments_beyond_the_kernels_limit_are_an_error(local: Local) -> None:
    with pytest.raises(OSError, match="Argument list too long"):
        local.run("true", "x" * 3_000_000)
    with pytest.raises(OSError, match="Invalid argument"):
        local.run("true", "a\0b")
    with pytest.raises(OSError, match="Invalid argument"):
        local.run()


@root_only
def test_another_user_has_no_more_than_its_rights(local: Local, tmp_path: Path) -> None:
    other = User(10001, 10002)
    done = local.shell(
        "id -u; id -g; id -G; grep -E 'CapEff|NoNewPrivs' /proc/self/status", user=other
    )
    assert done.stdout.split() == [
        *(b"10001", b"10002", b"10002"),
        *(b"CapEff:", b"0" * 16, b"NoNewPrivs:", b"1"),
    ]
    tmp_path.chmod(0o700)
    with pytest.raises(PermissionError):
        local.run("true", user=other, cwd=str(tmp_path))


@root_only
def test_an_ordinary_supervisor_cannot_become_another(start: Start) -> None:
    nobody = User(65534, 65534)
    local = start(user=nobody)
    assert local.run("id", "-u", user=nobody).stdout == b"65534\n"
    with pytest.raises(PermissionError):
        local.run("true", user=SELF)
    with pytest.raises(PermissionError):
        local.supervisor.read("/etc/hostname", user=SELF)


def test_many_run_at_once(local: Local) -> None:
    def one(number: int) -> bytes:
        return local.shell(f"echo {number}; head -c 100000 /dev/zero >&2").stdout

    with ThreadPoolExecutor(24) as pool:
        results = list(pool.map(one, range(200)))
    assert results == [f"{number}\n".encode() for number in range(200)]


def test_a_process_in_the_background(local: Local) -> None:
    process = local.supervisor.start(command("cat", "/dev/stdin", stdin=b"x"))
    assert process.wait(60).stdout == b"x"
    assert process.poll() == process.wait(0)
    sleeper = local.supervisor.start(command("sleep", "600"))
    assert sleeper.poll() is None
    with pytest.raises(TimeoutError):
        sleeper.wait(0.01)
    sleeper.kill()
    done = sleeper.wait(60)
    assert (done.killed, done.timed_out, done.signal) == (True, False, 9)
    sleeper.kill()


def test_an_interrupted_wait_kills_the_command_and_nothing_else(local: Local) -> None:
    process = local.supervisor.start(command("sleep", "600"))
    script = f"kill -INT {os.getpid()}; exec sleep 600"  # it runs, hence we wait
    with pytest.raises(KeyboardInterrupt):
        local.shell(script)
    assert local.shell("echo on").stdout == b"on\n"
    process.kill()
    assert process.wait(60).killed
    assert local.supervisor.kill_all() <= 1  # the interrupted one may be dying still


def test_descriptors_running_out_is_an_error_not_an_end(start: Start) -> None:
    local = start(limits={resource.RLIMIT_NOFILE: 40})
    processes = start_until(local, "Too many open files", SELF)
    assert len(processes) > 3
    assert local.supervisor.kill_all() == len(processes)
    assert all(process.wait(60).killed for process in processes)
    results: list[Completed] = [local.run("true") for _ in range(20)]
    assert all(done.exit_code == 0 for done in results)


@dataclass
class Trigger:
    armed: bool = False


@pytest.fixture
def trigger() -> Iterator[Trigger]:
    """While it is armed, the next SIGINT interrupts; any other would end the tests instead.

    Without the collector: what an interrupt raises in one of its callbacks, Python passes over.
    """
    trigger = Trigger()

    def take(_number: int, _frame: FrameType | None) -> None:
        if trigger.armed:
            trigger.armed = False
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, take)
    gc.disable()
    yield trigger
    gc.enable()
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
def test_interrupts_at_any_moment_lose_no_session(
    local: Local, tmp_path: Path, trigger: Trigger
) -> None:
    """Requests follow each other without a pause, so that interrupts meet them half sent."""
    shell = f"for i in $(seq 50); do kill -INT {os.getpid()}; sleep 0.0$((RANDOM % 5)); done"
    data = os.urandom(1 << 20)
    met, written = 0, 0
    interrupting = subprocess.Popen(["/bin/bash", "-c", shell])
    while interrupting.poll() is None:
        try:
            trigger.armed = True
            local.supervisor.write(str(tmp_path / "interrupted"), data, user=SELF)
            written += 1
            trigger.armed = False
        except KeyboardInterrupt:
            met += 1
    assert met > 10
    assert written > 0
    assert local.shell("echo on").stdout == b"on\n"
