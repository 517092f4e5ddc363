"""The way to a supervisor that takes nothing any more."""

import socket
import threading
import time

import pytest

from sandbox.container.engines import streams
from sandbox.container.engines.streams import SocketStream


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> tuple[SocketStream, socket.socket]:
    monkeypatch.setattr(streams, "SEND_SECONDS", 1)
    ours, theirs = socket.socketpair()
    return SocketStream(ours, lambda remarks: f"gone {remarks}"), theirs


@pytest.mark.slow
def test_who_sends_to_one_that_takes_nothing_is_told_in_time(
    ends: tuple[SocketStream, socket.socket],
) -> None:
    stream, theirs = ends
    began = time.monotonic()
    with pytest.raises(ConnectionError, match="has taken nothing for 1 seconds"):
        stream.send(bytes(8 << 20))
    assert time.monotonic() - began < 30
    stream.close()
    theirs.close()


@pytest.mark.slow
def test_one_that_takes_little_by_little_gets_all(
    ends: tuple[SocketStream, socket.socket],
) -> None:
    stream, theirs = ends
    taken = bytearray()

    def take() -> None:
        while len(taken) < 4 << 20:
            taken.extend(theirs.recv(1 << 20))
            time.sleep(0.1)

    thread = threading.Thread(target=take)
    thread.start()
    stream.send(bytes(4 << 20))
    thread.join(30)
    assert len(taken) == 4 << 20
    stream.close()
    theirs.close()
