"""The two ways to the supervisor: the engine's attach stream, and a unix socket of our own.

Framing of the attach stream: https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach
"""

import contextlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from sandbox.container.engines.creation import SOCKET_NAME
from sandbox.model.scratch import Scratch

PIECE = 1 << 18
FRAME = struct.Struct(">BxxxI")
STDOUT = 1
SEND_SECONDS = 60
"""How long the other side may take nothing of what is sent: it may be stopped or frozen."""
REMARKS = 4096
"""Bytes kept of what the supervisor says on standard error, for the message when it dies."""


class Connection(Protocol):
    """What a stream needs of a socket, plain or TLS."""

    def recv(self, size: int, /) -> bytes:
        """Up to `size` bytes, none at the end."""

    def sendall(self, data: bytes, /) -> None:
        """All of `data`."""

    def setsockopt(self, level: int, option: int, value: bytes, /) -> None:
        """Set an option of the socket."""

    def shutdown(self, how: int, /) -> None:
        """End reading, writing or both."""

    def close(self) -> None:
        """Release the descriptor."""


class SocketStream:
    """Bytes to and from the supervisor. One thread may receive while others send.

    `explain` says why the container went away; it is asked once the stream has ended.
    """

    def __init__(self, connection: Connection, explain: Callable[[str], str]) -> None:
        self._connection = connection
        self._explain = explain
        self._closed = threading.Event()
        patience = struct.pack("ll", SEND_SECONDS, 0)  # socket(7): a struct timeval
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)

    def send(self, data: bytes) -> None:
        """Send all of `data`; ConnectionError once the container is gone, or takes nothing."""
        try:
            self._connection.sendall(data)
        except BlockingIOError as error:
            message = f"it has taken nothing for {SEND_SECONDS} seconds"
            raise ConnectionError(message) from error
        except OSError as error:
            raise self._gone() from error

    def receive(self) -> bytes:
        """The next bytes, at least one; ConnectionError at the end, with its reason."""
        try:
            data = self._next()
        except OSError as error:
            raise self._gone() from error
        if not data:
            raise self._gone()
        return data

    def close(self) -> None:
        """End the stream; a thread that waits in `receive` is woken."""
        if self._closed.is_set():
            return
        self._closed.set()
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def remarks(self) -> str:
        """What the supervisor said beside the protocol."""
        return ""

    def _next(self) -> bytes:
        return self._connection.recv(PIECE)

    def _gone(self) -> ConnectionError:
        if self._closed.is_set():
            return ConnectionError("the session was closed")
        return ConnectionError(self._explain(self.remarks()))


class AttachStream(SocketStream):
    """The standard streams of the container's first process, as the engine multiplexes them."""

    def __init__(self, connection: Connection, explain: Callable[[str], str]) -> None:
        super().__init__(connection, explain)
        self._header = b""
        self._kind = STDOUT
        self._left = 0
        self._remarks = b""

    def remarks(self) -> str:
        """The end of its standard error, on one line."""
        return " ".join(self._remarks.decode(errors="replace").split()).rstrip(".")

    def _next(self) -> bytes:
        while True:
            piece = self._connection.recv(PIECE)
            if not piece:
                return b""
            if data := self._output(piece):
                return data

    def _output(self, piece: bytes) -> bytes:
        """The part of `piece` that is standard output."""
        parts: list[memoryview] = []
        view = memoryview(self._header + piece)
        self._header = b""
        while view:
            if not self._left:
                if len(view) < FRAME.size:
                    self._header = bytes(view)
                    break
                self._kind, self._left = FRAME.unpack_from(view)
                view = view[FRAME.size :]
            part, view = view[: self._left], view[self._left :]
            self._left -= len(part)
            if self._kind == STDOUT:
                parts.append(part)
            else:
                self._remarks = (self._remarks + part)[-REMARKS:]
        return bytes(parts[0]) if len(parts) == 1 else b"".join(parts)


class Unreachable(Exception):  # noqa: N818 - a signal between two functions, never shown
    """The supervisor did not come to our socket; the attach stream may still work."""


class Listener:
    """A unix socket in a folder of its own, which is gone once the supervisor has come to it.

    The folder is ours alone (mode 0700), so the agent's user in the container cannot enter it.
    """

    def __init__(self) -> None:
        self._scratch = Scratch("socket")
        self.folder = self._scratch.path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.bind(os.fspath(self.folder / SOCKET_NAME))
            self._socket.listen(1)
        except OSError as error:  # the path of a temporary folder may be too long for a socket
            self.close()
            raise Unreachable from error
        except BaseException:
            self.close()
            raise

    def accept(self, alive: Callable[[], bool], seconds: float) -> socket.socket:
        """The supervisor's connection; `Unreachable` once it has ended or the time is up."""
        end = time.monotonic() + seconds
        self._socket.settimeout(0.25)
        while time.monotonic() < end:
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                if not alive():
                    break
            else:
                connection.setblocking(True)  # noqa: FBT003 - positional only
                return connection
        raise Unreachable

    def close(self) -> None:
        """Remove the socket and its folder."""
        self._socket.close()
        self._scratch.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
