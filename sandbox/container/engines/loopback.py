"""A listener on this host's own loopback, for sessions that are no container."""

import contextlib
import select
import socket
import struct
import threading
from types import TracebackType
from typing import Self

from sandbox.model.connection import CHUNK, Serve

_CLIENTS = 128
_PATIENCE = 10.0
_AT_ONCE = struct.pack("ii", 1, 0)
"""SO_LINGER: the client reads an error, not an end."""


class LoopbackConnection:
    """One accepted client, until the listener's end."""

    def __init__(self, accepted: socket.socket, over: socket.socket) -> None:
        accepted.setblocking(False)  # noqa: FBT003 - the socket's own signature
        self._socket, self._over = accepted, over

    def receive(self, limit: int = CHUNK) -> bytes:
        """Wait for some bytes; b"" once the client sends no more."""
        while True:
            self._wait(select.POLLIN)
            with contextlib.suppress(BlockingIOError):
                return self._socket.recv(limit)

    def send(self, data: bytes) -> None:
        """Send all of it."""
        rest = memoryview(data)
        while rest:
            self._wait(select.POLLOUT)
            with contextlib.suppress(BlockingIOError):
                rest = rest[self._socket.send(rest) :]

    def end(self) -> None:
        """Send no more."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Send no more and hear no more."""
        if self._socket.fileno() >= 0 and self.was_cut(0):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self._socket.close()

    def was_cut(self, seconds: float) -> bool:
        """Wait, and say whether the listener was closed meanwhile."""
        try:
            return bool(select.select([self._over], [], [], seconds)[0])
        except (OSError, ValueError):  # who asks may outlive the listener
            return True

    def _wait(self, events: int) -> None:
        poll = select.poll()
        poll.register(self._socket, events)
        poll.register(self._over, select.POLLIN)
        if any(number == self._over.fileno() for number, _ in poll.poll()):
            raise ConnectionResetError("The connection was cut.")


class LoopbackListener:
    """See `sandbox.model.connection.Listener`."""

    def __init__(self, port: int, serve: Serve) -> None:
        """Listen; OSError where the port is taken."""
        self._serve = serve
        self._socket = socket.create_server(("127.0.0.1", port), backlog=_CLIENTS)
        self.port: int = self._socket.getsockname()[1]
        self._over, self._end = socket.socketpair()
        self._free = threading.Semaphore(_CLIENTS)
        self._threads: set[threading.Thread] = set()
        self._accepting = threading.Thread(target=self._accept, name="loopback", daemon=True)
        self._accepting.start()

    def close(self) -> None:
        """Accept no more, cut every connection, and wait for those who serve them."""
        self._end.close()
        self._free.release()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        for thread in (self._accepting, *self._threads):
            if thread is not threading.current_thread():
                thread.join(_PATIENCE)
        self._socket.close()
        self._over.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while self._free.acquire():
                accepted, _ = self._socket.accept()
                thread = threading.Thread(
                    target=self._work, args=(LoopbackConnection(accepted, self._over),), daemon=True
                )
                self._threads.add(thread)
                thread.start()

    def _work(self, connection: LoopbackConnection) -> None:
        try:
            with contextlib.suppress(OSError):
                self._serve(connection)
        finally:
            connection.close()
            self._threads.discard(threading.current_thread())
            self._free.release()
