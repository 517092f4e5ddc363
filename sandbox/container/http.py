"""Requests of clients in the container, read by h11 within limits, and answers to them.

What is not HTTP/1.1 (RFC 9112) to the letter is refused: two readers that differ on where a
request ends are how one is smuggled past the other.
"""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from urllib.parse import unquote

import h11

from sandbox.model.connection import Connection

HEAD_LIMIT = 65_536
"""Bytes of a request's head."""
HEADERS = 100
BUFFER = 65_536


class BadRequestError(Exception):
    """What came is not a request."""


class TooLargeError(Exception):
    """A body is larger than it may be."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request's head."""

    method: str
    target: str
    """As it was sent."""
    headers: tuple[tuple[str, str], ...]
    """Names as they were sent, and values."""
    keep: bool
    """Whether another request may follow on the connection."""

    @property
    def path(self) -> str:
        """Decoded, without a query."""
        return unquote(self.target.partition("?")[0])

    def header(self, name: str, default: str = "") -> str:
        """The first header of this name."""
        found = (value for key, value in self.headers if key.lower() == name.lower())
        return next(found, default)


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


class Requests:
    """What a client sends, request by request."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._http = _parser()

    def head(self) -> Request | None:
        """Wait for the next head; None where none comes any more, BadRequestError."""
        rest, _ = self._http.trailing_data
        self._http = _parser()
        if rest:
            self._http.receive_data(rest)
        event = self._event()
        if not isinstance(event, h11.Request):
            return None
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in event.headers.raw_items()
        )
        if len(headers) > HEADERS:
            raise BadRequestError(f"it has more than {HEADERS} headers")
        request = Request(event.method.decode(), event.target.decode("latin-1"), headers, keep=True)
        wanted = request.header("Connection").lower()
        keep = wanted != "close" and (event.http_version != b"1.0" or wanted == "keep-alive")
        # Whoever reads no body would read it as the next request.
        bodied = request.header("Transfer-Encoding") or request.header("Content-Length", "0") != "0"
        return Request(request.method, request.target, headers, keep and not bodied)

    def body(self, request: Request, limit: int) -> bytes:
        """Read the body of the request whose head came last; BadRequestError, TooLargeError."""
        length = request.header("Content-Length", "0")
        if length.isdigit() and (len(length) > len(str(limit)) or int(length) > limit):
            raise TooLargeError
        body = bytearray()
        while isinstance(event := self._event(), h11.Data):
            body += event.data
            if len(body) > limit:
                raise TooLargeError
        return bytes(body)

    def _event(self) -> object:
        """The next part of a request; BadRequestError."""
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(self._connection.receive(BUFFER))
        except h11.RemoteProtocolError as error:
            raise BadRequestError(f"it is not HTTP/1.1: {error}") from error
        return event


def _parser() -> h11.Connection:
    return h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT)
