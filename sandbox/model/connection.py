"""A byte stream between a client in the container and whoever serves it on the host."""

from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

CHUNK = 65_536


class Connection(Protocol):
    """One accepted client. Reading and writing may be done by two threads at once.

    Errors are of the kind ConnectionError: the client has gone, or the listener was closed.
    """

    def receive(self, limit: int = CHUNK) -> bytes:
        """Wait for some bytes, at most `limit`; b"" once the client sends no more."""

    def send(self, data: bytes) -> None:
        """Send all of it; blocks while the client does not read."""

    def end(self) -> None:
        """Send no more, which the client reads as the end; it may go on sending."""

    def close(self) -> None:
        """Send no more and hear no more; what was sent before is still delivered."""

    def was_cut(self, seconds: float) -> bool:
        """Wait, and say whether it is of no use any more, which is told at once."""


Serve = Callable[[Connection], None]
"""Called in a thread of its own for each client. The connection is closed when it returns or raises
an OSError; it has to return soon once the connection is cut."""


class Listener(Protocol):
    """A TCP port of the container's loopback (127.0.0.1) that is served by the host."""

    @property
    def port(self) -> int:
        """Its number."""

    def close(self) -> None:
        """Accept no more, cut every connection, and wait for those who serve them.

        Clients read an error, not an end. Never raises where the session is gone.
        """

    def __enter__(self) -> Self:
        """Itself."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
