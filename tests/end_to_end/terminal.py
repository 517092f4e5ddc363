"""The command line at a terminal of its own, where a person can press Ctrl-C."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.end_to_end.commands import SANDBOX, SECONDS

CONTROL_C = b"\x03"
SIZE = struct.pack("HHHH", 50, 200, 0, 0)


class Terminal:
    """`sandbox` with a terminal as its input, output and errors."""

    def __init__(self, *arguments: str | Path, **environment: str) -> None:
        self._near, far = pty.openpty()
        fcntl.ioctl(far, termios.TIOCSWINSZ, SIZE)
        self._seen = b""
        self._process = subprocess.Popen(
            [SANDBOX, *map(str, arguments)],
            env={**os.environ, **environment},
            stdin=far,
            stdout=far,
            stderr=far,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(far)

    @property
    def text(self) -> str:
        """All that was shown."""
        return self._seen.decode(errors="replace")

    def until(self, text: str) -> None:
        """Wait until something is shown."""
        while text not in self.text:
            assert self._read(), f"it ended without {text!r}: {self.text}"

    def press(self, keys: bytes = CONTROL_C) -> None:
        """Type; the terminal makes a signal of Ctrl-C."""
        os.write(self._near, keys)

    def end(self) -> int:
        """Wait for the end; the exit code."""
        while self._read():
            pass
        return self._process.wait(SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._near)

    def _read(self) -> bool:
        """Take what is shown next; whether there was something."""
        started = time.monotonic()
        while not select.select([self._near], [], [], 1)[0]:
            assert time.monotonic() < started + SECONDS, self.text
        try:
            piece = os.read(self._near, 1 << 16)
        except OSError:  # EIO: nobody has the terminal open any more
            return False
        self._seen += piece
        return bool(piece)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
