"""What a command has done is told before its end is, however the threads happen to run."""

import threading

import pytest

from sandbox.container.supervisor import protocol, top_level
from sandbox.container.supervisor.execs import Execs
from sandbox.container.supervisor.protocol import Reply
from sandbox.model.session import Command, Exec, ExecEnd, ExecObserver, ExecOutcome

REQUEST = 7
COMMAND = Command(("/bin/true",), tag="tag")
END = ExecEnd(ExecOutcome.EXITED, 5, None, 0.1)


class Slow(ExecObserver):
    """Keeps what it is told, each time only when it is let."""

    def __init__(self) -> None:
        self.let, self.called = threading.Event(), threading.Event()
        self.told: list[str] = []

    def seen(self, _: Exec) -> int:
        return 0

    def ended(self, _: Exec, end: ExecEnd) -> None:
        self._keep(f"ended {end.exit_code}")

    def lost(self, _: str, count: int, *, unseen: bool = False) -> None:  # noqa: ARG002
        self._keep(f"lost {count}")

    def _keep(self, what: str) -> None:
        self.called.set()
        assert self.let.wait(20)
        self.told.append(what)


@pytest.fixture
def observer() -> Slow:
    return Slow()


@pytest.fixture
def execs(observer: Slow) -> Execs:
    def fail(error: BaseException) -> None:
        raise error

    made = Execs(lambda _: None, fail)
    made.observer = observer
    made.follow(REQUEST, COMMAND)
    return made


def counted(execs: Execs, untold: int) -> None:
    """Have the supervisor's last count of a command's execs come."""
    payload = protocol.EXEC_COUNT.pack(untold, untold, 1)
    execs.take(Reply.EXEC_COUNT, REQUEST, payload)


def test_the_end_of_a_command_alone_is_told_first_also_behind_the_count_of_its_execs(
    execs: Execs, observer: Slow
) -> None:
    counted(execs, 0)
    execs.caught_up()
    over = threading.Event()
    execs.conclude(top_level.execution(COMMAND), END, over.set)
    assert observer.called.wait(20)
    assert not over.is_set()
    observer.let.set()
    assert over.wait(20)
    assert observer.told == ["ended 5"]
    execs.close()


def test_what_was_not_told_is_counted_before_the_end_is_told(execs: Execs, observer: Slow) -> None:
    counted(execs, 3)
    assert observer.called.wait(20)
    over = threading.Event()
    execs.after(REQUEST, over.set)
    assert not over.is_set()
    observer.let.set()
    assert over.wait(20)
    assert observer.told == ["lost 3"]
    execs.close()
