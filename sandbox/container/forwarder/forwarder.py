"""Passes requests from the container on to one upstream, and its answers back as they come.

A connection carries one request. The key is added here; what the agent sends in its place is
dropped, and no header of the answer that holds it gets back.
"""

import contextlib
import http.client
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus

from sandbox.container.forwarder.interfaces import credentials
from sandbox.container.forwarder.upstream import Link, Upstream
from sandbox.container.http import (
    BUFFER,
    BadRequestError,
    Request,
    Requests,
    Response,
    TooLargeError,
)
from sandbox.model.connection import Connection

BODY_LIMIT = 32 << 20
"""Bytes of a request's body."""
ANSWER_LIMIT = 64 << 20
"""Bytes of an answer's body that are passed back."""
AT_ONCE = 16
"""Requests that are passed on at the same time; the next ones wait."""
_TICK = 0.1

_OWN = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "upgrade",
        "transfer-encoding",
        "content-length",
        "host",
        "expect",
        "authorization",
        "x-api-key",
        "x-goog-api-key",
        "api-key",
        "cookie",
        "set-cookie",
    }
)
"""Headers of one hop (RFC 9110, section 7.6.1), or that are set here; none is passed on."""

_KEY_REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


@dataclass(frozen=True, slots=True)
class Forwarded:
    """What became of a request."""

    method: str
    """Empty where what came was no request."""
    path: str
    """As it was asked for, without a query."""
    status: int
    """What the agent was answered."""
    size: int
    """Bytes of the answer's body."""
    problem: str = ""
    """Why it was not passed on, or its answer not to the end."""


class Forwarder:
    """For one upstream. Any number of connections at once."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._room = threading.BoundedSemaphore(AT_ONCE)

    def serve(self, connection: Connection, told: Callable[[Forwarded], None]) -> None:
        """Answer one request and tell what became of it, from the connection's thread."""
        while not self._room.acquire(timeout=_TICK):
            if connection.was_cut(0):
                return
        try:
            with contextlib.suppress(ConnectionError):
                self._serve(connection, told)
        finally:
            self._room.release()

    def _serve(self, connection: Connection, told: Callable[[Forwarded], None]) -> None:
        exchange = _Exchange(self._upstream, connection)
        try:
            exchange.answer()
        finally:
            if exchange.begun:
                told(exchange.forwarded)


class _Exchange:
    """One request and its answer."""

    def __init__(self, upstream: Upstream, connection: Connection) -> None:
        self._upstream, self._connection = upstream, connection
        self.begun = False
        self._method = self._path = self._problem = ""
        self._status = self._size = 0

    @property
    def forwarded(self) -> Forwarded:
        """What became of it."""
        return Forwarded(self._method, self._path, self._status, self._size, self._problem)

    def answer(self) -> None:
        """Read the request, pass it on, and its answer back."""
        coming = Requests(self._connection)
        try:
            request = coming.head()
            if request is None:
                return
            self.begun = True
            self._method, self._path = request.method, request.target.partition("?")[0]
            if request.header("Expect").lower() == "100-continue":
                self._connection.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = coming.body(request, BODY_LIMIT)
        except BadRequestError as error:
            self.begun = True
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
            return
        except TooLargeError:
            self._refuse(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {BODY_LIMIT} bytes are too many"
            )
            return
        added = credentials(self._path, self._upstream.key)
        if added is None:
            self._refuse(HTTPStatus.FORBIDDEN, "only requests to a model are passed on")
            return
        self._pass_on(request, body, added)

    def _pass_on(self, request: Request, body: bytes, added: dict[str, str]) -> None:
        hop = {name.strip().lower() for name in request.header("Connection").split(",")} | _OWN
        kept = {name: text for name, text in request.headers if name.lower() not in hop}
        try:
            with Link(self._upstream) as link, _ending_with(self._connection, link):
                answer = link.ask(request.method, request.target, {**kept, **added}, body)
                if answer.status in _KEY_REFUSED:
                    # Such answers like to quote the key.
                    self._refuse(HTTPStatus(answer.status), "the model's server refuses the key")
                else:
                    self._pass_back(answer, request.method)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._problem = self._problem or f"{type(error).__name__}"
            if not self._status:
                self._refuse(HTTPStatus.BAD_GATEWAY, "the model's server did not answer")

    def _pass_back(self, answer: http.client.HTTPResponse, method: str) -> None:
        """Send the answer on as it comes, to its end or to where it breaks off."""
        empty = method == "HEAD" or answer.status in (204, 304)
        whole = answer.length
        lines = [f"HTTP/1.1 {answer.status} {answer.reason}"]
        for name, value in answer.getheaders():
            held = self._upstream.key and self._upstream.key in value
            if name.lower() not in _OWN and not held:
                lines.append(f"{name}: {value}")
        if not empty:
            framing = "Transfer-Encoding: chunked" if whole is None else f"Content-Length: {whole}"
            lines.append(framing)
        lines += ["Connection: close", "", ""]
        self._status = answer.status
        self._connection.send("\r\n".join(lines).encode("latin-1", "replace"))
        if empty:
            return
        for part in self._parts(answer):
            self._connection.send(part if whole is not None else _chunk(part))
        if whole is None:
            self._connection.send(b"0\r\n\r\n")
        elif self._size < whole:
            self._problem = "the answer broke off"

    def _parts(self, answer: http.client.HTTPResponse) -> Iterator[bytes]:
        while part := answer.read1(BUFFER):
            self._size += len(part)
            if self._size > ANSWER_LIMIT:
                self._problem = f"more than {ANSWER_LIMIT} bytes are too many"
                raise http.client.HTTPException
            yield part

    def _refuse(self, status: HTTPStatus, problem: str) -> None:
        self._problem = self._problem or problem
        body = f"{problem}\n".encode()
        self._status, self._size = status.value, len(body)
        self._connection.send(Response(status, body).head(keep=False) + body)


@contextlib.contextmanager
def _ending_with(connection: Connection, link: Link) -> Iterator[None]:
    """Give the upstream up as soon as the client is gone."""
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            if connection.was_cut(_TICK):
                if not over.is_set():
                    link.abort()
                return

    threading.Thread(target=watch, name="forwarder", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _chunk(part: bytes) -> bytes:
    return f"{len(part):x}\r\n".encode() + part + b"\r\n"
