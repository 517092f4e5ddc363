"""Work as root by way of `sudo`: decided on, below the command, and no danger to the supervisor."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.container.engines.base import Engine, Limits, Session, SessionSpec
from sandbox.model import places
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.session import AGENT, Command, Completed, Exec, ExecOutcome
from sandbox.tasks import library
from sandbox.tasks.images import Images
from tests.sandbox.container.supervisor.watched import Recorder

pytestmark = pytest.mark.engine

ATTACKS = Path(__file__).with_name("attacks_of_root.py")


class Roots(Recorder):
    """Lets root run what is not called `denied`."""

    def seen(self, execution: Exec) -> int:
        super().seen(execution)  # which may do something meanwhile
        denied = execution.privileged and execution.arguments == (b"echo", b"denied")
        return errno.EACCES if denied else 0

    def reason(self, execution: Exec) -> str:
        return f"{len(execution.arguments)} words are too many"

    @property
    def asked(self) -> list[Exec]:
        return [one for one in self.all if one.privileged]

    def forget(self) -> None:
        self.all.clear()
        self.ends.clear()


class Rooted:
    """A container in which commands may ask for root."""

    def __init__(self, session: Session, how: str) -> None:
        self.session, self.how = session, how
        self.roots = Roots()
        session.on_exec(self.roots)

    def shell(self, line: str, **options: Any) -> Completed:  # noqa: ANN401
        self.roots.forget()
        defaults: dict[str, Any] = {"cwd": "/tmp", "environment": ENVIRONMENT, "timeout": 60}
        chosen = defaults | {"interception": self.how} | options
        return self.session.run(Command(("/bin/sh", "-c", line), **chosen))


@pytest.fixture(
    scope="module",
    params=[("exec", "hold"), ("exec", "log"), ("ptrace", "hold"), ("top-level", "hold")],
    ids="-".join,
)
def rooted(engine: Engine, request: pytest.FixtureRequest) -> Iterator[Rooted]:
    coverage, how = request.param
    image = Images(engine, places.cache()).ensure(
        library.load("humanize/file-sizes"), lambda _: None
    )
    limits = Limits(memory_bytes=512 << 20, processes=128)
    spec = SessionSpec(image.tag, limits=limits, interception=coverage)
    with engine.start(spec) as session:
        if session.greeting.coverage(how) != coverage:
            pytest.skip(f"this kernel has no {coverage}")
        session.write("/tmp/attacks.py", ATTACKS.read_bytes())
        yield Rooted(session, how)


def test_what_is_allowed_runs_as_root_and_ends_as_it_ended(rooted: Rooted) -> None:
    done = rooted.shell("echo in | sudo sh -c 'id -u; pwd; cat; echo out >&2; exit 7'; echo $?")
    assert done.stdout == b"0\n/tmp\nin\n7\n"
    assert done.stderr == b"out\n"
    (asked,) = rooted.roots.asked
    assert (asked.uid, asked.held, asked.cwd) == (0, True, b"/tmp")
    assert asked.resolved == os.fsencode("/usr/bin/dash")
    assert asked.arguments[:2] == (b"sh", b"-c")
    end = rooted.roots.ends[asked.number]
    assert (end.outcome, end.exit_code) == (ExecOutcome.EXITED, 7)
    if rooted.session.greeting.coverage("log") != "top-level":
        below = {one.program: one for one in rooted.roots.all if one.parent == asked.pid}
        assert below[b"/usr/bin/id"].uid == 0
        assert not below[b"/usr/bin/id"].privileged


def test_what_ends_by_a_signal_ends_sudo_by_it(rooted: Rooted) -> None:
    assert rooted.shell("sudo sh -c 'kill -TERM $$'; echo $?").stdout == b"143\n"


@pytest.mark.parametrize(
    "line",
    [
        "sudo echo denied",
        "sh -c 'sudo -n -E -u root -- echo denied'",
        "/usr/bin/sudo echo denied",
        "/.sandbox/supervisor echo denied; ln -sf /.sandbox/supervisor sudo; ./sudo echo denied",
        "mkdir -p d; cp /usr/bin/sudo d; d/sudo echo denied",
        'python3 -c \'import os; os.execvp("sudo", ["sudo", "echo", "denied"])\'',
        "sudo sudo echo denied",
    ],
)
def test_the_request_is_what_is_decided_on(rooted: Rooted, line: str) -> None:
    done = rooted.shell(line)
    assert done.exit_code == 1
    assert b"sudo: not allowed: 2 words are too many\n" in done.stderr
    assert done.stdout == b""
    assert rooted.roots.asked[-1].arguments == (b"echo", b"denied")
    assert rooted.roots.ends[rooted.roots.asked[-1].number].outcome is ExecOutcome.REFUSED


def test_options_say_something_sensible(rooted: Rooted) -> None:
    assert rooted.shell("sudo -v").exit_code == 0
    assert b"policy" in rooted.shell("sudo -l").stdout
    assert b"usage" in rooted.shell("sudo").stderr
    assert b"only root" in rooted.shell("sudo -u bob id").stderr
    missing = rooted.shell("sudo no-such-program")
    assert (missing.exit_code, missing.stderr) == (
        1,
        b"sudo: no-such-program: No such file or directory\n",
    )
    assert rooted.shell("sudo -s 'id -u; echo two'").stdout == b"0\ntwo\n"
    assert rooted.roots.asked[0].arguments == (b"/bin/sh", b"-c", b"id -u; echo two")


def test_no_variable_decides_what_root_runs(rooted: Rooted) -> None:
    line = "PATH=/tmp:$PATH LD_PRELOAD=x.so BASH_ENV=x PYTHONPATH=/tmp LC_ALL=C sudo -E env"
    found = dict(row.split("=", 1) for row in rooted.shell(line).stdout.decode().splitlines())
    assert found == {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "USER": "root",
        "LOGNAME": "root",
        "SHELL": "/bin/sh",
        "SUDO_UID": str(AGENT.uid),
        "SUDO_GID": str(AGENT.gid),
        "LC_ALL": "C",
    } | {name: value for name, value in ENVIRONMENT.items() if name in ("LANG", "TZ", "TERM")}
    assert b"cannot be set" in rooted.shell("sudo LD_PRELOAD=x.so true").stderr


def test_root_cannot_hurt_the_supervisor(rooted: Rooted) -> None:
    done = rooted.shell("sudo python3 /tmp/attacks.py; echo $?")
    assert done.stdout == b"over\n0\n", done.stderr
    assert rooted.shell("exit 5").exit_code == 5
    assert rooted.session.usage().processes == 0


def test_root_does_not_stay_the_first_to_go_when_memory_runs_out(rooted: Rooted) -> None:
    before = rooted.session.read("/proc/1/oom_score_adj")
    line = "sudo sh -c 'echo 1000 >/proc/1/oom_score_adj; while grep -q 1000 /proc/1/oom_score_adj;"
    assert rooted.shell(f"{line} do sleep 0.01; done'").exit_code == 0
    assert rooted.session.read("/proc/1/oom_score_adj") == before


def test_it_ends_with_its_command(rooted: Rooted) -> None:
    done = rooted.shell("sudo sleep 600", timeout=0.7)
    assert done.timed_out
    assert rooted.session.usage().processes == 0
    begun = "while [ ! -e /tmp/begun ]; do sleep 0.01; done"
    line = f"sudo sh -c 'sleep 600 & touch /tmp/begun; sleep 600' & {begun}"
    assert rooted.shell(line, kill_survivors=True).survivors >= 3
    assert rooted.session.usage().processes == 0


def test_it_ends_with_the_sudo_that_asked(rooted: Rooted) -> None:
    line = "timeout 0.3 sudo sh -c 'while :; do echo; sleep 0.01; done' | cat >/dev/null; echo over"
    done = rooted.shell(line)
    assert (done.stdout, done.timed_out) == (b"over\n", False)


def test_what_is_left_asks_as_long_as_its_command_has_processes(rooted: Rooted) -> None:
    done = rooted.shell(
        "for i in $(seq 70); do sudo true || exit 1; sudo nothing 2>/dev/null; done"
    )
    assert (done.exit_code, done.stderr) == (1, b"")
    assert len(rooted.roots.asked) == 70


def test_only_commands_of_actions_are_heard(rooted: Rooted) -> None:
    done = rooted.shell("sudo true", interception="off")
    assert (done.exit_code, rooted.roots.asked) == (1, [])
    assert b"only the commands of an action" in done.stderr


def test_garbage_at_the_door_is_refused(rooted: Rooted) -> None:
    program = """
import array, os, socket
for data, descriptors in (
    (b"", 0), (b"x", 0), (bytes(8), 4), (b"\\1\\0\\0\\0\\0\\0\\0\\0id", 4),
    (b"\\2\\0\\0\\0\\0\\0\\0\\0id\\0", 4), (b"\\1\\0\\0\\0\\xff\\xff\\xff\\xffid\\0", 4),
    (b"\\1\\0\\0\\0\\0\\0\\0\\0id\\0", 0), (b"\\1\\0\\0\\0\\0\\0\\0\\0id\\0", 9),
):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        door.connect(b"\\0sandbox/sudo")
        passed = array.array("i", [0] * descriptors)
        with_them = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)] if descriptors else []
        door.sendmsg([data], with_them)
        assert b"not a request" in door.recv(4096), data
"""
    done = rooted.shell(f"python3 - <<'END'\n{program}\nEND")
    assert (done.exit_code, done.stderr) == (0, b"")
    assert rooted.roots.asked == []


def test_another_program_than_was_decided_on_does_not_run(rooted: Rooted) -> None:
    def change(seen: Exec) -> int:
        if seen.privileged:
            rooted.session.write("/tmp/program", b"#!/bin/cat\n")
        return 0

    if rooted.session.greeting.coverage("log") == "top-level":
        pytest.skip("nothing is compared")
    rooted.session.write("/tmp/program", b"#!/bin/sh\necho decided on\n", mode=0o755)
    line = "sudo /tmp/program; echo $?"
    assert rooted.shell(line).stdout == b"decided on\n0\n"
    rooted.roots.decide = change
    done = rooted.shell(line)
    rooted.roots.decide = lambda _: 0
    assert done.stdout in (b"127\n", b"137\n")
    (asked,) = rooted.roots.asked
    assert rooted.roots.ends[asked.number].outcome is ExecOutcome.MISMATCH
