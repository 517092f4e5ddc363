"""Calls an open session at its socket."""

import socket
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from sandbox.agents.call_server import address
from sandbox.model.call import ANSWERED, Answered, Asked
from sandbox.model.errors import CallError


class Caller:
    """One connection."""

    def __init__(self, path: Path) -> None:
        """Connect; CallError where nobody listens."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with address(path) as short:
                self._socket.connect(short)
        except OSError as error:
            self._socket.close()
            raise CallError(f"Nobody answers at {path}: {error.strerror}.") from error
        self._lines = self._socket.makefile("rb")

    def ask(self, asked: Asked) -> Answered:
        """Ask and wait for the answer; CallError where the session ends without one."""
        try:
            self._socket.sendall(asked.model_dump_json().encode() + b"\n")
            return ANSWERED.validate_json(self._lines.readline())
        except (OSError, ValidationError) as error:
            raise CallError(
                "The session went away before it answered. Whether the action was done, its trace"
                " says.",
            ) from error

    def wait(self) -> None:
        """Wait until the session lets go, which is when its run is over and graded."""
        try:
            while self._lines.read(1 << 16):
                pass
        except OSError:
            return  # it went away with something unread

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lines.close()
        self._socket.close()


def listens(path: Path) -> bool:
    """Whether a session can be called there."""
    try:
        with Caller(path):
            return True
    except CallError:
        return False
