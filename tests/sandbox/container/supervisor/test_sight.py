"""Whether anything was lost sight of: what is told is compared with what there was."""

import errno
import os
from collections.abc import Iterator

import pytest

from sandbox.container.supervisor import protocol
from sandbox.container.supervisor.execs import Execs
from sandbox.container.supervisor.protocol import Reply
from sandbox.model.session import Command, Exec, ExecObserver
from tests.sandbox.container.supervisor.local import SELF, Start, command
from tests.sandbox.container.supervisor.watched import Recorder, watched


class Losses(ExecObserver):
    def __init__(self) -> None:
        self.all: list[tuple[str, int, bool]] = []

    def lost(self, tag: str, count: int, *, unseen: bool = False) -> None:
        self.all.append((tag, count, unseen))


class Told:
    """The client's part alone, and the frames of a supervisor that has lost something."""

    def __init__(self) -> None:
        self.losses = Losses()
        self.execs = Execs(lambda _: None, self.fail)
        self.execs.observer = self.losses
        self.execs.follow(7, Command(("x",), tag="a1"))

    def fail(self, error: BaseException) -> None:
        raise AssertionError(error)

    def seen(self, number: int, request: int = 7) -> None:
        head = protocol.EXEC.pack(number, 0, 0, 9, 1, 0, 0)
        strings = b"".join(protocol.string(text) for text in ("/bin/x", "/bin/x", "/"))
        self.execs.take(Reply.EXEC_SEEN, request, head + strings + protocol.strings(()) * 2)

    def count(self, seen: int, untold: int, over: int, request: int = 7) -> None:
        payload = protocol.EXEC_COUNT.pack(seen, untold, over)
        self.execs.take(Reply.EXEC_COUNT, request, payload)


@pytest.fixture
def told() -> Iterator[Told]:
    told = Told()
    yield told
    told.execs.close()


def test_all_that_there_was_is_nothing_lost(told: Told) -> None:
    told.seen(1)
    told.count(2, 1, 0)
    told.seen(2)
    told.count(4, 2, 1)
    told.execs.close()
    assert told.losses.all == [("a1", 1, False), ("a1", 1, False)]


def test_what_was_never_told_is_unseen(told: Told) -> None:
    told.seen(1)
    told.count(3, 0, 0)
    told.count(4, 1, 1)
    told.execs.close()
    assert told.losses.all == [("a1", 2, True), ("a1", 1, False)]


def test_what_belongs_to_no_command_is_unseen(told: Told) -> None:
    told.count(1, 0, 0, request=0)
    told.count(2, 0, 0, request=0)
    told.execs.close()
    assert told.losses.all == [("", 1, True), ("", 1, True)]


@pytest.mark.skipif(os.getuid() != 0, reason="kills the shim")
def test_what_has_lost_its_shim_is_decided_on_all_the_same(start: Start, shared: object) -> None:
    traced = watched(start, "hold", shared, coverage="ptrace")  # type: ignore[arg-type]

    def decide(seen: Exec) -> int:
        return errno.EPERM if seen.program == b"/bin/false" else 0

    traced.local.supervisor.on_exec(recorder := Recorder(decide))
    line = "kill -KILL $PPID; /bin/false && touch ran; /bin/true; touch over"
    done = traced.local.supervisor.run(
        command("/bin/sh", "-c", line, interception="hold", user=SELF, cwd=str(shared))
    )
    assert done.signal == 9
    while "touch" not in recorder.names:
        traced.local.supervisor.usage()
    traced.local.supervisor.kill_all()
    assert recorder.names == ["sh", "false", "true", "touch"]
