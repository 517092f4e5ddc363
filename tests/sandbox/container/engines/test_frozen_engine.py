"""An engine that takes requests and answers none, as a stopped daemon does."""

import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
import requests

from sandbox.container.engines.docker import FROZEN_SECONDS, REQUEST_SECONDS, PatientClient


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with (
        tempfile.TemporaryDirectory(prefix="frozen-") as folder,
        socket.socket(socket.AF_UNIX) as listening,
    ):
        listening.bind(str(Path(folder, "engine.sock")))
        listening.listen()
        yield listening


def answer(listening: socket.socket) -> None:
    """Answer the next request, once those that nobody waits for any more are gone."""
    while True:
        connection, _ = listening.accept()
        with connection:
            try:
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            except (BrokenPipeError, ConnectionResetError):
                continue
            if not connection.recv(1):
                return


def test_a_frozen_engine_is_waited_for_once(listening: socket.socket) -> None:
    address = f"unix://{listening.getsockname()}"
    client = PatientClient(address, version="1.41", timeout=1)
    with pytest.raises(requests.Timeout):
        client.version()
    assert client.timeout == FROZEN_SECONDS
    thread = Thread(target=answer, args=(listening,), daemon=True)
    thread.start()
    assert client.version() == {}
    assert client.timeout == REQUEST_SECONDS
    client.close()
    thread.join()
