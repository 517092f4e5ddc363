"""What only tracing does, and what it must not change; the rest of it is in test_execs.py."""

from pathlib import Path

import pytest

from tests.sandbox.container.supervisor.local import Start, command
from tests.sandbox.container.supervisor.test_tree import BOMB, DAEMONS, IGNORING
from tests.sandbox.container.supervisor.watched import Watched, watched

JOB_CONTROL = """
import os, signal
end, begin = os.pipe()
child = os.fork()
while child == 0:
    os.write(begin, b"x")
os.set_blocking(end, False)
def is_quiet():
    try:
        return not os.read(end, 1 << 20)
    except BlockingIOError:
        return True
for _ in range(3):
    for number, expected in ((signal.SIGSTOP, os.WIFSTOPPED), (signal.SIGCONT, os.WIFCONTINUED)):
        os.kill(child, number)
        assert expected(os.waitpid(child, os.WUNTRACED | os.WCONTINUED)[1])
        is_quiet()
        if number == signal.SIGSTOP:
            assert all(is_quiet() for _ in range(20_000))  # it would write by then
        else:
            while is_quiet(): pass
os.kill(child, signal.SIGTERM)
assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGTERM
"""

THREADS = """
import os, signal, threading
done = []
threads = [threading.Thread(target=lambda: done.append(os.system("/bin/true"))) for _ in range(20)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert done == [0] * 20
signal.signal(signal.SIGTRAP, lambda *_: done.append("trap"))
os.kill(os.getpid(), signal.SIGTRAP)
assert done[-1] == "trap"
"""


@pytest.fixture
def traced(start: Start, shared: Path) -> Watched:
    return watched(start, "hold", shared, coverage="ptrace")


def test_no_child_can_ask_not_to_be_traced(traced: Watched, own: Path) -> None:
    done = traced.run(str(own), "untraced", "/bin/true")
    refused, missing = "Operation not permitted", "Function not implemented"
    assert done.stdout.decode().splitlines() == [refused, missing, refused, refused]
    assert traced.recorder.names == ["attacks"]


@pytest.mark.parametrize("program", [JOB_CONTROL, THREADS], ids=["job-control", "threads"])
def test_a_program_notices_nothing(traced: Watched, program: str) -> None:
    done = traced.run("python3", "-c", program)
    assert (done.exit_code, done.stderr) == (0, b"")


@pytest.mark.parametrize("line", [DAEMONS + " wait", IGNORING, "kill -STOP $$"])
def test_a_deadline_ends_the_whole_tree(traced: Watched, line: str) -> None:
    done = traced.shell(line, timeout=0.5)
    assert (done.timed_out, done.signal) == (True, 9)
    assert traced.local.supervisor.usage().processes == 0
    assert traced.shell("exit 4").exit_code == 4


@pytest.mark.slow
def test_a_fork_bomb_ends_at_its_deadline(traced: Watched) -> None:
    bomb = BOMB.replace("while True:", "for _ in range(7):")
    done = traced.run("python3", "-c", bomb + "signal.pause()", timeout=2)
    assert done.timed_out
    assert traced.local.supervisor.usage().processes == 0


def test_survivors_are_counted_and_killed(traced: Watched) -> None:
    done = traced.shell("sleep 600 & sleep 600 &", kill_survivors=True)
    assert (done.exit_code, done.survivors) == (0, 2)
    assert traced.local.supervisor.usage().processes == 0


def test_a_started_command_is_told_once_it_runs(traced: Watched) -> None:
    process = traced.local.supervisor.start(
        command("/bin/sh", "-c", "sleep 600", interception="hold", user=traced.user)
    )
    assert traced.recorder.names[0] == "sh"
    process.kill()
    assert process.wait(60).killed
