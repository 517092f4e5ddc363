"""As much of HTTP/1.1 (RFC 9112) as package clients speak: requests without a body, keep-alive."""

import http.client
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http import HTTPStatus
from pathlib import Path
from urllib.parse import unquote

from sandbox.model.connection import Connection

LINE_LIMIT = 65_536
BUFFER = 65_536


class BadRequestError(Exception):
    """What came is no request."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request's head."""

    method: str
    target: str
    """As it was sent."""
    headers: Message
    keep: bool
    """Whether another request may follow on the connection."""

    @property
    def path(self) -> str:
        """Decoded, without a query."""
        return unquote(self.target.partition("?")[0])

    def header(self, name: str, default: str = "") -> str:
        """The first header of this name."""
        return str(self.headers.get(name, default))


@dataclass(frozen=True, slots=True)
class Response:
    """An answer; its body is `body`, or a file."""

    status: HTTPStatus
    body: bytes = b""
    content_type: str = "text/plain"
    headers: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None

    @property
    def length(self) -> int:
        """Bytes of the body."""
        return self.file.stat().st_size if self.file else len(self.body)

    def head(self, *, keep: bool) -> bytes:
        """Everything before the body."""
        lines = [
            f"HTTP/1.1 {self.status.value} {self.status.phrase}",
            f"Content-Type: {self.content_type}",
            f"Content-Length: {self.length}",
            *(f"{name}: {value}" for name, value in self.headers.items()),
            f"Connection: {'keep-alive' if keep else 'close'}",
        ]
        return "".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1")

    def parts(self, count: int) -> Iterator[bytes]:
        """The first bytes of the body, piece by piece: a client may be slow, and files large."""
        with self.file.open("rb") if self.file else io.BytesIO(self.body) as source:
            while count and (part := source.read(min(count, BUFFER))):
                count -= len(part)
                yield part


class Reader(io.RawIOBase):
    """What a client sends, as a file."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Wait for some bytes; 0 at the end."""
        data = self._connection.receive(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def requests(connection: Connection) -> io.BufferedReader:
    """What `read_request` reads from."""
    return io.BufferedReader(Reader(connection), BUFFER)


def read_request(reader: io.BufferedReader) -> Request | None:
    """Read a head; None where none comes any more, BadRequestError for anything else."""
    line = reader.readline(LINE_LIMIT + 1)
    if not line:
        return None
    words = line.decode("latin-1").split()
    if len(line) > LINE_LIMIT or len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequestError("the first line is no request")
    method, target, version = words
    try:
        headers = http.client.parse_headers(reader)
    except http.client.HTTPException as error:
        raise BadRequestError(str(error)) from error
    wanted = str(headers.get("Connection", "")).lower()
    keep = wanted != "close" and (version != "HTTP/1.0" or wanted == "keep-alive")
    # A body would be read as the next request; nothing here takes one.
    bodied = "Transfer-Encoding" in headers or headers.get("Content-Length", "0").strip() != "0"
    return Request(method, target, headers, keep and not bodied)
