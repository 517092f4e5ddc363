"""A server on this host's loopback that stands for a model's, and answers what it is told."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

Answer = Callable[[socket.socket], None]

PIECES = (b"data: one\n\n", b"data: two\n\n", b"data: [DONE]\n\n")


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Server:
    """What came, and what is answered."""

    port: int
    answer: Answer
    asked: list[Asked] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def plain(status: str, body: bytes, *headers: str) -> Answer:
    """Answer with a length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return lambda client: client.sendall("\r\n".join(lines).encode() + body)


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def half(client: socket.socket) -> None:
    """Begin a stream and break it off."""
    client.sendall(HEAD + chunk(PIECES[0]))


def streamed(client: socket.socket) -> None:
    """Send a stream of events."""
    client.sendall(HEAD + b"".join(map(chunk, PIECES)) + b"0\r\n\r\n")


@contextmanager
def serving(answer: Answer) -> Iterator[Server]:
    """Answer each connection's one request in the same way."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(listener.getsockname()[1], answer)

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=work, args=(client,), daemon=True).start()

    def work(client: socket.socket) -> None:
        with client, client.makefile("rb") as reader:
            server.asked.append(_read(reader))
            server.answer(client)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _read(reader: BinaryIO) -> Asked:
    line = reader.readline().decode().strip()
    headers = {}
    while row := reader.readline().decode().strip():
        name, _, value = row.partition(": ")
        headers[name.lower()] = value
    return Asked(line, headers, reader.read(int(headers.get("content-length", "0"))))
