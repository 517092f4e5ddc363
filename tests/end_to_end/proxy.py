"""A way to the engine that can be cut, as when the engine stops."""

import contextlib
import socket
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

PIECE = 1 << 16


class Proxy:
    """A unix socket of our own; what comes in goes to the engine's socket and back."""

    def __init__(self, path: Path, engine: Path) -> None:
        self._path = path
        self._engine = engine
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        """What DOCKER_HOST is set to."""
        return f"unix://{self._path}"

    def cut(self) -> None:
        """Break every connection off and take no other."""
        self._path.unlink(missing_ok=True)
        with self._lock:
            for end in (self._server, *self._open):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.cut()
        for end in self._open:
            end.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._server.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(str(self._engine))
                with self._lock:
                    self._open += [near, far]
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(PIECE):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
