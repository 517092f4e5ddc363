"""Execs that are seen and held: what is told, what is refused, and what tries to get by."""

import errno
import itertools
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.model.coverage import Coverage
from sandbox.model.errors import SessionLostError
from sandbox.model.session import (
    Completed,
    Exec,
    ExecEnd,
    ExecObserver,
    ExecOutcome,
    Interception,
    User,
)
from tests.sandbox.container.supervisor.conftest import SECONDS, SELF, Local, Start, command

OTHER = User(23457, 23457)
ALLOW: Callable[[Exec], int] = lambda _: 0  # noqa: E731

as_root = pytest.mark.skipif(os.getuid() != 0, reason="becomes another user")


class Recorder(ExecObserver):
    """Keeps all that it is told."""

    def __init__(self, decide: Callable[[Exec], int] = ALLOW) -> None:
        self.decide = decide
        self.all: list[Exec] = []
        self.ends: dict[int, ExecEnd] = {}
        self.untold = 0

    def seen(self, execution: Exec) -> int:
        self.all.append(execution)
        return self.decide(execution)

    def ended(self, execution: Exec, end: ExecEnd) -> None:
        assert execution.number not in self.ends
        self.ends[execution.number] = end

    def lost(self, _: str, count: int, *, unseen: bool = False) -> None:
        assert not unseen
        self.untold += count

    @property
    def names(self) -> list[str]:
        return [Path(os.fsdecode(each.program)).name for each in self.all]

    def one(self, name: str) -> Exec:
        (found,) = [each for each in self.all if Path(os.fsdecode(each.program)).name == name]
        return found

    def end(self, name: str) -> ExecEnd:
        return self.ends[self.one(name).number]


class Watched:
    """A supervisor whose commands are intercepted."""

    def __init__(
        self,
        local: Local,
        how: Interception,
        user: User,
        folder: Path,
        coverage: Coverage = "exec",
    ) -> None:
        self.local, self.how, self.user, self.folder = local, how, user, folder
        self.coverage = coverage
        self.recorder = Recorder()
        local.supervisor.on_exec(self.recorder)

    def run(self, *argv: str | bytes, **options: Any) -> Completed:  # noqa: ANN401
        options = {"user": self.user, "cwd": str(self.folder), "tag": "tag"} | options
        return self.local.supervisor.run(command(*argv, interception=self.how, **options))

    def shell(self, line: str, **options: Any) -> Completed:  # noqa: ANN401
        return self.run("/bin/sh", "-c", line, **options)


@pytest.fixture(scope="session")
def attacks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of attacks.c, static."""
    folder = tmp_path_factory.mktemp("attacks")
    target = f"{platform.machine()}-linux-musl"
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-static", "-O1", "-pthread"]
    source = Path(__file__).with_name("attacks.c")
    flags = ["-D_GNU_SOURCE", "-Wall", "-Werror", "-o", str(folder / "attacks")]
    subprocess.run([*zig, *flags, str(source)], check=True)
    return folder / "attacks"


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user reaches and writes.

    Not below pytest's own, which another run of pytest closes to others whenever it begins.
    """
    with tempfile.TemporaryDirectory(prefix="sandbox-test-") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


def watched(
    start: Start,
    how: Interception,
    folder: Path,
    user: User = SELF,
    coverage: Coverage = "exec",
) -> Watched:
    local = start("unix", *([] if coverage == "exec" else [f"--{coverage}"]))
    if local.supervisor.greeting.coverage(how) != coverage:
        pytest.skip(f"this kernel has no {coverage}")
    return Watched(local, how, user, folder, coverage)


HELD: list[Any] = [
    pytest.param(("hold", user, coverage), marks=marks, id=f"hold-{name}{suffix}")
    for coverage, suffix in (("exec", ""), ("ptrace", "-ptrace"))
    for name, user, marks in (("self", SELF, ()), ("other", OTHER, as_root))
]
EACH: list[Any] = HELD + [
    pytest.param(("log", user, coverage), marks=marks, id=f"log-{name}{suffix}")
    for coverage, suffix in (("exec", ""), ("ptrace", "-ptrace"))
    for name, user, marks in (("self", SELF, ()), ("other", OTHER, as_root))
]


@pytest.fixture(params=EACH)
def each(start: Start, request: pytest.FixtureRequest, shared: Path) -> Watched:
    how, user, coverage = request.param
    return watched(start, how, shared, user, coverage)


@pytest.fixture(params=HELD)
def held(start: Start, request: pytest.FixtureRequest, shared: Path) -> Watched:
    how, user, coverage = request.param
    return watched(start, how, shared, user, coverage)


@pytest.fixture
def own(attacks: Path, shared: Path) -> Path:
    """The attacks, where anyone can run them."""
    return copied(attacks, shared / "attacks")


def copied(attacks: Path, to: Path) -> Path:
    to.write_bytes(attacks.read_bytes())
    to.chmod(0o755)
    return to


# ---- what is told ----


def test_all_that_a_command_starts_is_seen_in_order(each: Watched) -> None:
    done = each.shell("cd /; cat /dev/null; (sh -c 'exit 3'); env A=1 false; kill -9 $$")
    assert done.signal == signal.SIGKILL
    recorder = each.recorder
    assert recorder.names == ["sh", "cat", "sh", "env", "false"]
    first, cat = recorder.all[0], recorder.one("cat")
    assert first.arguments == (b"/bin/sh", b"-c", first.arguments[2])
    assert (first.first, cat.first) == (True, False)
    assert cat.arguments == (b"cat", b"/dev/null")
    assert (cat.cwd, cat.parent, cat.uid) == (b"/", first.pid, each.user.uid)
    assert cat.resolved == os.fsencode(os.path.realpath("/bin/cat"))
    assert {one.tag for one in recorder.all} == {"tag"}
    ends = [recorder.ends[one.number] for one in recorder.all]
    assert [end.exit_code for end in ends] == [None, 0, 3, None, 1]
    assert [end.signal for end in ends] == [9, None, None, None, None]
    assert ends[3].outcome is ExecOutcome.REPLACED
    assert all(end.seconds >= 0 for end in ends)


def test_variables_that_change_what_a_program_does_are_told(each: Watched) -> None:
    line = "A=1 PYTHONPATH=/tmp/x npm_config_script_shell=/bin/true PYTEST_ADDOPTS= /bin/true; :"
    assert each.shell(line).exit_code == 0
    told = each.recorder.one("true").environment
    assert sorted(told) == [
        b"PYTEST_ADDOPTS=",
        b"PYTHONPATH=/tmp/x",
        b"npm_config_script_shell=/bin/true",
    ]
    assert each.recorder.one("sh").environment == ()


def test_many_and_long_variables_are_cut_and_lose_nothing_else(each: Watched) -> None:
    line = f"export LD_AUDIT={'x' * 5000} PYTHONPATH=/tmp/x B={'y' * 100000}; /bin/true; :"
    assert each.shell(line).exit_code == 0
    told = each.recorder.one("true")
    assert sorted(map(len, told.environment)) == [len(b"PYTHONPATH=/tmp/x"), 1023]
    assert told.environment_truncated


def test_it_is_said_where_more_variables_tell_than_are_told(each: Watched) -> None:
    spelt = map("".join, itertools.product(*zip("npm", "NPM", strict=True)))
    few = " ".join(f"{name}_config_{of}config=" for name in spelt for of in ("user", "global"))
    line = f"env {few} /bin/true; env {few} PYTHONPATH=/tmp/x /bin/false"
    assert each.shell(line).exit_code == 1
    told = each.recorder.one("true"), each.recorder.one("false")
    assert [one.environment_truncated for one in told] == [False, True]


def test_names_count_in_either_case_for_npm_alone(each: Watched) -> None:
    line = "Npm_Config_Userconfig=x pythonpath=/tmp/x Makeflags=n /bin/true; :"
    assert each.shell(line).exit_code == 0
    assert each.recorder.one("true").environment == (b"Npm_Config_Userconfig=x",)


def test_what_is_not_found_is_an_error_as_ever_and_not_seen(each: Watched) -> None:
    with pytest.raises(FileNotFoundError):
        each.run("no-such-program", environment={"PATH": "/no:/bin"})
    with pytest.raises(PermissionError):
        each.run("/etc/passwd")
    line = "/no/such; /etc/passwd; env no-such; exec /etc"
    done = each.shell(line, environment={"PATH": "/no:/bin"})
    assert done.exit_code == 126
    assert each.recorder.names == ["sh", "env"]


def test_a_script_is_seen_by_its_own_name(each: Watched) -> None:
    inner, outer = each.folder / "inner", each.folder / "outer"
    inner.write_text('#!/bin/sh -e\nexec echo inner "$@"\n')
    outer.write_text(f"#! {inner}   word  \n")
    for script in (inner, outer):
        script.chmod(0o755)
    done = each.shell("./inner; ./outer a 'b c'")
    assert done.stdout == b"inner\ninner word ./outer a b c\n"
    assert each.recorder.one("outer").arguments == (b"./outer", b"a", b"b c")
    assert each.recorder.one("outer").resolved == os.fsencode(outer)


def test_a_file_that_is_no_program_is_the_shells_own_to_run(each: Watched) -> None:
    (each.folder / "plain").write_text("echo plain\n")
    (each.folder / "plain").chmod(0o755)
    assert each.shell("./plain").stdout == b"plain\n"


@pytest.mark.parametrize("how", ["descriptor", "memory"])
def test_a_program_given_by_a_descriptor_is_resolved(each: Watched, own: Path, how: str) -> None:
    program = copied(own, own.with_name("copy"))
    assert each.run(str(own), how, str(program)).exit_code == 0
    last = each.recorder.all[-1]
    assert last.program.startswith(b"/dev/fd/")
    assert last.arguments == (b"name", b"descriptor")
    expected = os.fsencode(program) if how == "descriptor" else b"/memfd:memory (deleted)"
    assert last.resolved == expected
    assert each.recorder.ends[last.number].exit_code == 0


def test_a_thread_that_execs_is_seen_as_its_process(each: Watched, own: Path) -> None:
    program = copied(own, own.with_name("copy"))
    assert each.run(str(own), "thread", str(program)).exit_code == 0
    first, last = each.recorder.all
    assert (last.pid, last.resolved) == (first.pid, os.fsencode(program))
    assert last.arguments[1:] == (b"thread",)


def test_links_of_proc_mean_the_process_itself(each: Watched) -> None:
    assert each.shell("exec /proc/self/exe -c 'exit 4'").exit_code == 4
    assert each.recorder.all[-1].resolved == os.fsencode(os.path.realpath("/bin/sh"))


@pytest.mark.parametrize(("mode", "count"), [("big", 19), ("many", 100_000)])
def test_two_megabytes_of_arguments_run(each: Watched, own: Path, mode: str, count: int) -> None:
    program = copied(own, own.with_name("copy"))
    each.run(str(own), mode, str(program))
    last = each.recorder.all[-1]
    assert last.resolved == os.fsencode(program)
    assert (last.truncated, last.argument_count) == (True, count)
    assert sum(map(len, last.arguments)) <= 8192
    assert each.recorder.ends[last.number].outcome is ExecOutcome.EXITED


def test_more_execs_than_wanted_are_counted(start: Start, shared: Path) -> None:
    log = watched(start, "log", shared)
    log.shell("for i in 1 2 3 4 5 6 7 8; do /bin/true; done", execs_told=3)
    assert (len(log.recorder.all), log.recorder.untold) == (3, 6)


def test_what_outlives_its_command_is_seen_too(each: Watched) -> None:
    line = "(while [ ! -e go ]; do sleep 0.01; done; ./late; touch done) >/dev/null 2>&1 &"
    late = threading.Event()
    (each.folder / "late").symlink_to("/bin/true")

    def decide(seen: Exec) -> int:
        if b"late" in seen.program:
            late.set()
        return 0

    each.recorder.decide = decide
    done = each.shell(line)
    assert done.survivors >= 1
    assert not late.is_set()
    (each.folder / "go").touch()
    assert late.wait(60)
    each.local.supervisor.kill_all()


# ---- what is decided ----


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
    assert held.recorder.end("true").outcome in (ExecOutcome.GONE, ExecOutcome.EXITED)
    assert len(victims) == 1


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


def only(*allowed: bytes) -> Callable[[Exec], int]:
    return lambda seen: 0 if seen.resolved in allowed else errno.EPERM


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


@pytest.mark.thorough
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
