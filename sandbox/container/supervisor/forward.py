"""Listeners in the container whose connections come to the host: docs/supervisor-protocol.md."""

import contextlib
import struct
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from sandbox.container.supervisor import protocol
from sandbox.container.supervisor.process import Pending, refusal, unexpected
from sandbox.container.supervisor.protocol import STREAM_WINDOW, Reply, Request
from sandbox.model.connection import CHUNK, Serve
from sandbox.model.errors import ProtocolError, SandboxError

PATIENCE = 10.0
"""Seconds that closing a listener waits for those who serve its connections."""

_NUMBER = struct.Struct("<I")
_COUNT = struct.Struct("<II")

Tell = Callable[[Request, bytes], None]


class RemoteConnection:
    """A client of a listener; see `sandbox.model.connection.Connection`."""

    def __init__(self, number: int, tell: Tell) -> None:
        self._number, self._tell = number, tell
        self._changed = threading.Condition()
        self._sending = threading.Lock()
        """Held while something is sent; never by the reader's thread, which must not wait."""
        self._buffer = bytearray()
        self._room = STREAM_WINDOW
        self._heard = self._said = self._closed = self._cut = False

    def receive(self, limit: int = CHUNK) -> bytes:
        """Wait for some bytes; b"" once the client sends no more."""
        with self._changed:
            self._changed.wait_for(lambda: self._buffer or self._heard or self._cut)
            data = bytes(self._buffer[:limit])
            del self._buffer[:limit]
            if not data and not self._heard:
                raise ConnectionResetError("The connection was cut.")
        if data:
            self._say(Request.STREAM_TAKEN, _COUNT.pack(self._number, len(data)))
        return data

    def send(self, data: bytes) -> None:
        """Send all of it, as fast as the client takes it."""
        rest = memoryview(data)
        while rest:
            with self._changed:
                self._changed.wait_for(lambda: self._room or self._cut or self._said)
                part = bytes(rest[: self._room])
                self._room -= len(part)
            with self._sending:
                if self._cut or self._said:
                    raise BrokenPipeError("The connection takes no more.")
                self._say(Request.STREAM_DATA, _NUMBER.pack(self._number) + part)
            rest = rest[len(part) :]

    def end(self) -> None:
        """Send no more."""
        with self._sending:
            if not (self._said or self._cut):
                self._stop(Request.STREAM_DATA)

    def close(self) -> None:
        """Send no more and hear no more."""
        with self._sending, contextlib.suppress(ConnectionError):
            if not (self._closed or self._cut):
                self._closed = True
                self._stop(Request.STREAM_CLOSE)

    def was_cut(self, seconds: float) -> bool:
        """Wait, and say whether it was cut meanwhile."""
        with self._changed:
            return self._changed.wait_for(lambda: self._cut, seconds)

    def take(self, data: bytes) -> None:
        """Take bytes of the client, or its end; the reader's thread calls."""
        with self._changed:
            if len(data) > STREAM_WINDOW - len(self._buffer) or self._heard:
                raise ProtocolError("The supervisor sent more of a connection than it may.")
            self._buffer += data
            self._heard = not data
            self._changed.notify_all()

    def delivered(self, count: int) -> None:
        """So many bytes have reached the client's socket."""
        with self._changed:
            self._room += count
            self._changed.notify_all()

    def cut(self) -> None:
        """It is over; what has come may still be read."""
        with self._changed:
            self._cut = True
            self._changed.notify_all()

    def _stop(self, kind: Request) -> None:
        with self._changed:
            self._said = True
            self._changed.notify_all()
        self._say(kind, _NUMBER.pack(self._number))

    def _say(self, kind: Request, payload: bytes) -> None:
        try:
            self._tell(kind, payload)
        except SandboxError as error:
            raise ConnectionResetError("The session is lost.") from error


class RemoteListener(Pending):
    """A listener in a container; see `sandbox.model.connection.Listener`."""

    def __init__(
        self, serve: Serve, send: Callable[[bytes], None], settled: Callable[[Pending], None]
    ) -> None:
        """`settled` waits for the last frame; it raises where none can come any more."""
        super().__init__()
        self._serve, self._send, self._settled = serve, send, settled
        self._request = self.port = 0
        self._ready = threading.Event()
        self._connections: dict[int, RemoteConnection] = {}
        self._threads: set[threading.Thread] = set()

    def open(self, request: int, port: int) -> None:
        """Send the request."""
        self._request = request
        self._tell(Request.LISTEN, _NUMBER.pack(port))

    def listens(self, timeout: float) -> bool:
        """Wait until it listens; False where it did not in time, OSError where it cannot."""
        if not self._ready.wait(timeout):
            return False
        if self.failed:
            self.settle()
        return True

    def take(self, kind: Reply, payload: bytes) -> bool:
        """Take what the supervisor tells of it and its connections."""
        if kind is Reply.ERROR:
            self._failure = refusal(payload, {})
        elif kind is Reply.LISTENING:
            (self.port,) = protocol.unpack(_NUMBER, payload)
            self._ready.set()
        elif kind is Reply.ACCEPTED:
            self._accept(*protocol.unpack(_NUMBER, payload))
        elif kind is Reply.RECEIVED:
            self._connection(payload).take(payload[_NUMBER.size :])
        elif kind is Reply.DELIVERED:
            self._connection(payload).delivered(protocol.unpack(_COUNT, payload)[1])
        elif kind is Reply.CLOSED:
            connection = self._connection(payload)
            del self._connections[_number(payload)]
            connection.cut()
        elif kind is not Reply.OK:
            raise unexpected(kind)
        return kind in (Reply.OK, Reply.ERROR)

    def finish(self) -> None:
        """It is closed, or could not be opened."""
        super().finish()
        self._ready.set()
        for connection in [*self._connections.values()]:
            connection.cut()

    def close(self) -> None:
        """Accept no more and cut every connection."""
        if not self.done:
            with contextlib.suppress(SandboxError):
                self._tell(Request.UNLISTEN, b"")
                self._settled(self)
        deadline = time.monotonic() + PATIENCE
        for thread in [*self._threads]:
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _accept(self, number: int) -> None:
        if number in self._connections:
            raise ProtocolError("The supervisor used the number of a connection twice.")
        connection = self._connections[number] = RemoteConnection(number, self._tell)
        thread = threading.Thread(
            target=self._work, args=(connection,), name="supervisor-connection", daemon=True
        )
        self._threads.add(thread)
        thread.start()
        if self.done:  # a thread that sends has just found that the session is lost
            connection.cut()

    def _work(self, connection: RemoteConnection) -> None:
        try:
            with contextlib.suppress(OSError):
                self._serve(connection)
        finally:
            connection.close()
            self._threads.discard(threading.current_thread())

    def _connection(self, payload: bytes) -> RemoteConnection:
        connection = self._connections.get(_number(payload))
        if connection is None:
            raise ProtocolError("The supervisor told of a connection that does not exist.")
        return connection

    def _tell(self, kind: Request, payload: bytes) -> None:
        self._send(protocol.frame(kind, self._request, payload))


def _number(payload: bytes) -> int:
    return protocol.Cursor(payload).u32()
