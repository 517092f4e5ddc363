"""What an engine says where it does not let us attach."""

import socket
import threading
from pathlib import Path

import pytest

from sandbox.container.engines.endpoints import Endpoint
from sandbox.container.engines.hijack import END_OF_HEAD, attach
from sandbox.model.errors import EngineError

HEAD = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: %d\r\n\r\n"


def refused(folder: Path, body: bytes, length: int | None = None) -> str:
    """What attaching fails with at an engine that answers with this body and hangs up."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket"))
        listening.listen(1)

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                asked = b""
                while not asked.endswith(END_OF_HEAD):
                    asked += connection.recv(1000)
                connection.sendall(HEAD % (len(body) if length is None else length) + body)

        engine = threading.Thread(target=answer)
        engine.start()
        endpoint = Endpoint(f"unix://{folder / 'socket'}", "a test's")
        with pytest.raises(EngineError) as caught:
            attach(endpoint, "1.41", "it")
        engine.join()
    return caught.value.message


def test_its_own_reason_is_told(tmp_path: Path) -> None:
    assert "no memory" in refused(tmp_path, b'{"cause": "x", "message": "no memory"}')


@pytest.mark.parametrize("body", [b"", b"text", b"[]", b"{}", b"1"])
def test_without_one_its_status_is(tmp_path: Path, body: bytes) -> None:
    assert "500 Internal Server Error" in refused(tmp_path, body)


def test_one_that_is_cut_is_none(tmp_path: Path) -> None:
    assert "500 Internal" in refused(tmp_path, b'{"message": "no', 100)
