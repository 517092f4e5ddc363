"""Whatever a supervisor says, the harness ends with a result or an error that it knows."""

import contextlib
import socket
import struct
import threading

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sandbox.container.supervisor import protocol
from sandbox.container.supervisor.client import Supervisor
from sandbox.container.supervisor.execs import EXEC_KINDS, execution_of
from sandbox.container.supervisor.protocol import Outcome, Reply
from sandbox.model.errors import ProtocolError, SandboxError, SessionLostError
from sandbox.model.session import Command, Exec, ExecEnd, ExecObserver
from tests.sandbox.container.supervisor.streams import SocketStream

SECONDS = 30.0
GREETING = b"".join(
    (
        protocol.PROTOCOL_VERSION.to_bytes(4, "little"),
        protocol.string("x86_64"),
        protocol.string("6.1"),
        protocol.strings(["exec_log", "exec_hold", "exec_status"]),
    )
)
COMMAND = Command(("true",), interception="hold", tag="a1")

numbers = st.integers(0, 2**32 - 1)
texts = st.binary(max_size=12)
execs = st.builds(
    lambda number, rest, program, place, words: (
        protocol.EXEC.pack(number, *rest, len(words))
        + protocol.string(program)
        + protocol.string(place) * 2
        + protocol.strings(words) * 2
    ),
    st.integers(0, 5),
    st.tuples(numbers, st.integers(0, 5), numbers, numbers, numbers),
    texts,
    texts,
    st.lists(texts, max_size=4),
)
ends = st.builds(
    protocol.EXEC_ENDED.pack, st.integers(0, 5), st.integers(0, 8), numbers, numbers, numbers
)
counts = st.builds(protocol.EXEC_COUNT.pack, numbers, numbers, st.integers(0, 2))
frames = st.one_of(
    st.tuples(st.sampled_from([Reply.EXEC_SEEN, Reply.EXEC_HELD]), execs),
    st.tuples(st.just(Reply.EXEC_ENDED), ends),
    st.tuples(st.just(Reply.EXEC_COUNT), counts),
    st.tuples(st.sampled_from(sorted(EXEC_KINDS)), st.binary(max_size=60)),
    st.tuples(st.sampled_from(Reply), st.binary(max_size=80)),
)


def wire(kind: int, payload: bytes, request: int = 1) -> bytes:
    return struct.pack("<IBI", len(payload) + 5, kind, request) + payload


class Watching(ExecObserver):
    """Notes what it is told, and holds it to its contract."""

    def __init__(self) -> None:
        self.open: list[Exec] = []

    def seen(self, execution: Exec) -> int:
        self.open.append(execution)
        return 0

    def ended(self, execution: Exec, end: ExecEnd) -> None:  # noqa: ARG002
        self.open.remove(execution)


def say(theirs: socket.socket, said: list[bytes], *, leaves: bool) -> None:
    with contextlib.suppress(OSError):
        theirs.sendall(wire(Reply.GREETING, GREETING, 0))
        theirs.recv(1)  # the command is asked for: now there is a request 1
        theirs.sendall(b"".join(said))
        if leaves:
            theirs.shutdown(socket.SHUT_WR)


def outcome(said: list[bytes], *, leaves: bool = True) -> Exception | None:
    """What a command ends in, whose supervisor says this and then leaves or is silent."""
    ours, theirs = socket.socketpair()
    with theirs:
        speaker = threading.Thread(target=say, args=(theirs, said), kwargs={"leaves": leaves})
        speaker.start()
        supervisor = Supervisor(SocketStream(ours), SECONDS)
        supervisor.on_exec(Watching())
        try:
            supervisor.start(COMMAND).wait(SECONDS)
        except (SandboxError, OSError) as error:
            return error
        finally:
            supervisor.close()
            speaker.join(SECONDS)
    return None


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(frames.map(lambda frame: wire(*frame)), st.binary(max_size=20))))
@example([wire(Reply.EXEC_ENDED, protocol.EXEC_ENDED.pack(1, Outcome.GONE, 0, 0, 0))])
@example([wire(Reply.STARTED, b""), wire(Reply.STARTED, b""), wire(Reply.ENDED, bytes(64))])
@example([wire(Reply.ERROR, bytes(8))])
def test_any_frames_end_a_command(said: list[bytes]) -> None:
    assert not isinstance(outcome(said), TimeoutError)


@given(st.sampled_from([Reply.EXEC_SEEN, Reply.EXEC_HELD]), st.binary(max_size=120) | execs)
def test_an_exec_is_read_or_refused(kind: Reply, payload: bytes) -> None:
    try:
        execution = execution_of(payload, "a1", kind)
    except ProtocolError:
        return
    assert execution.tag == "a1"
    assert sum(map(len, execution.arguments)) < len(payload)


@pytest.mark.parametrize("end", [(7, 0), (1, 99)], ids=["unknown exec", "unknown outcome"])
def test_an_end_that_cannot_be_is_the_supervisors_fault(end: tuple[int, int]) -> None:
    seen = protocol.EXEC.pack(1, 0, 0, 9, 1, 0, 0) + protocol.string(b"x") * 3 + bytes(8)
    said = [
        wire(Reply.STARTED, b""),
        wire(Reply.EXEC_SEEN, seen),
        wire(Reply.EXEC_ENDED, protocol.EXEC_ENDED.pack(*end, 0, 0, 0)),
    ]
    error = outcome(said, leaves=False)
    assert isinstance(error, SessionLostError)
    assert f"told end {end[1]} of the exec {end[0]}" in error.message
