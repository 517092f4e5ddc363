"""What an agent prints to standard error, kept up to a limit and read without end."""

import threading
from pathlib import Path
from typing import IO

LOG_LIMIT = 16 << 20
"""Bytes that are kept."""

_CHUNK = 1 << 16


class LogDrain:
    """Reads a stream in a thread, so that its writer never blocks."""

    def __init__(self, stream: IO[bytes], path: Path | None) -> None:
        """Start; without a path, or where it cannot be written, what is read is dropped."""
        self._stream = stream
        self._path = path
        self._thread = threading.Thread(target=self._work, name="agent log", daemon=True)
        self._thread.start()

    def close(self, patience: float = 2.0) -> None:
        """Wait for the stream's end; a process that escaped may hold it open for ever."""
        self._thread.join(patience)

    def _work(self) -> None:
        with self._stream:
            try:
                self._keep()
            except OSError:
                self._discard()

    def _keep(self) -> None:
        if self._path is None:
            self._discard()
            return
        kept = 0
        with self._path.open("wb", buffering=0) as log:
            while kept < LOG_LIMIT and (chunk := self._stream.read(_CHUNK)):
                log.write(chunk[: LOG_LIMIT - kept])
                kept += len(chunk)
            if kept >= LOG_LIMIT:
                log.write(b"\n[the rest was dropped]\n")
                self._discard()

    def _discard(self) -> None:
        while self._stream.read(_CHUNK):
            pass
