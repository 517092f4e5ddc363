"""What a supervisor is spoken to by."""

from typing import Protocol


class Stream(Protocol):
    """A connection to a supervisor. `send` and `receive` are called from different threads."""

    def send(self, data: bytes) -> None:
        """Send all of it; OSError once the other side is gone."""

    def receive(self) -> bytes:
        """Some bytes, b"" at the end."""

    def close(self) -> None:
        """End the connection; a `receive` that waits returns."""
