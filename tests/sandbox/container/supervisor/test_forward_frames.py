"""The frames of listeners: what either side may say, and what comes of the rest."""

import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.container.supervisor import protocol
from sandbox.container.supervisor.forward import RemoteListener
from sandbox.container.supervisor.protocol import FrameReader, Reply, Request
from sandbox.model.errors import ProtocolError
from tests.sandbox.container.supervisor.local import SECONDS
from tests.sandbox.container.supervisor.streams import SocketStream
from tests.sandbox.container.supervisor.test_forward import dial
from tests.sandbox.container.supervisor.test_stream import exchange


class Raw:
    """A supervisor spoken to without a client of ours, listening as request 1."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream, self._frames = stream, FrameReader()
        self._waiting: list[tuple[Reply, int, bytes]] = []
        self.port = self.listen(1)

    def ask(self, kind: Request, request: int, payload: bytes) -> None:
        self._stream.send(protocol.frame(kind, request, payload))

    def listen(self, request: int) -> int:
        self.ask(Request.LISTEN, request, bytes(4))
        return int.from_bytes(self.until(Reply.LISTENING), "little")

    def until(self, wanted: Reply) -> bytes:
        while True:
            while self._waiting:
                kind, _, payload = self._waiting.pop(0)
                if kind is wanted:
                    return payload
            data = self._stream.receive()
            assert data, f"no {wanted.name} came"
            self._waiting += self._frames.feed(data)


@pytest.fixture
def raw(binary: Path, tmp_path: Path) -> Iterator[Raw]:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        listening.listen(1)
        process = subprocess.Popen([binary, "--unix", tmp_path / "socket"])
        stream = SocketStream(listening.accept()[0])
    try:
        yield Raw(stream)
    finally:
        stream.close()
        process.wait(SECONDS)


ONE = struct.pack("<I", 1)


def taken(client: socket.socket, count: int) -> bytes:
    """Take so many bytes: a socket with a limit of time gives what is there, however little."""
    data = b""
    while len(data) < count:
        part = client.recv(count - len(data))
        assert part, "the stream has ended"
        data += part
    return data


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (Request.STREAM_DATA, ONE + bytes(protocol.STREAM_WINDOW + 1)),
        (Request.STREAM_DATA, b"\1"),
        (Request.STREAM_TAKEN, struct.pack("<II", 1, 1)),
        (Request.STREAM_TAKEN, ONE),
        (Request.STREAM_CLOSE, ONE + ONE),
        (Request.LISTEN, ONE),
        (Request.LISTEN, b""),
    ],
)
def test_what_the_host_may_not_say_is_a_fault(raw: Raw, kind: Request, payload: bytes) -> None:
    with dial(raw.port) as client:
        assert raw.until(Reply.ACCEPTED) == ONE
        raw.ask(kind, 1, payload)
        assert raw.until(Reply.FAULT)
        assert client.recv(1) == b""


def test_a_window_is_for_what_the_client_has_not_taken(raw: Raw) -> None:
    with dial(raw.port) as client:
        raw.until(Reply.ACCEPTED)
        window = bytes(protocol.STREAM_WINDOW)
        total = 0
        while total < 1 << 20:
            raw.ask(Request.STREAM_DATA, 1, ONE + window)
            total += len(taken(client, len(window)))
        raw.ask(Request.STREAM_DATA, 1, ONE)
        assert client.recv(1) == b""
        raw.ask(Request.STREAM_DATA, 1, ONE)
        assert b"after its end" in raw.until(Reply.FAULT)


def test_what_comes_too_late_is_ignored(raw: Raw) -> None:
    with dial(raw.port) as client:
        raw.until(Reply.ACCEPTED)
        raw.ask(Request.STREAM_CLOSE, 1, ONE)
        assert client.recv(1) == b""
        assert raw.until(Reply.CLOSED) == ONE
    for number in (ONE, struct.pack("<I", 9)):
        raw.ask(Request.STREAM_DATA, 1, number + b"late")
        raw.ask(Request.STREAM_TAKEN, 1, number + number)
        raw.ask(Request.STREAM_CLOSE, 1, number)
    raw.ask(Request.UNLISTEN, 1, b"")
    raw.until(Reply.OK)
    raw.ask(Request.UNLISTEN, 1, b"")
    raw.ask(Request.STREAM_DATA, 1, ONE + b"late")
    assert raw.listen(2)


parts = st.tuples(st.sampled_from([16, 17, 18, 19, 20]), st.binary(max_size=12))


@pytest.mark.slow
@given(st.lists(parts, max_size=12))
def test_garbage_is_a_fault_or_nothing(binary: Path, requests: list[tuple[int, bytes]]) -> None:
    data = b"".join(
        struct.pack("<IBI", len(payload) + 5, kind, 7) + payload for kind, payload in requests
    )
    known = {Reply.GREETING, Reply.LISTENING, Reply.OK, Reply.ERROR, Reply.FAULT}
    assert {kind for kind, _, _ in exchange(binary, data)} <= known


said = st.tuples(
    st.sampled_from([Reply.ACCEPTED, Reply.RECEIVED, Reply.DELIVERED, Reply.CLOSED, Reply.DATA]),
    st.one_of(
        st.binary(max_size=9), st.integers(0, 3).map(lambda number: struct.pack("<I", number))
    ),
)


@given(st.lists(said, max_size=12))
def test_a_garbled_supervisor_is_an_error_and_nothing_else(
    replies: list[tuple[Reply, bytes]],
) -> None:
    listener = RemoteListener(lambda connection: connection.end(), lambda _: None, lambda _: None)
    try:
        for kind, payload in replies:
            listener.take(kind, payload)
    except ProtocolError:
        pass
    finally:
        listener.finish()
        listener.close()
