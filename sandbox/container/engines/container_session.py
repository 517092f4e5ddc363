"""One container of an engine, with the supervisor's methods and its container's life."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from sandbox.container.engines.base import Overlay
from sandbox.container.engines.disk import DiskMeter
from sandbox.container.engines.streams import SocketStream
from sandbox.container.supervisor.client import Supervisor
from sandbox.model.session import DiskUse


class ContainerSession(Supervisor):
    """A session: everything a supervisor does, and a container that `close` removes."""

    def __init__(
        self,
        stream: SocketStream,
        *,
        ready_timeout: float,
        container: str,
        overlay: Callable[[], Overlay | None],
        meter: DiskMeter,
        remove: Callable[[], None],
    ) -> None:
        self._container = container
        self._overlay = overlay
        self._meter = meter
        self._remove = remove
        super().__init__(stream, ready_timeout)  # closes itself where no greeting comes

    @property
    def container(self) -> str:
        """The engine's name for the container."""
        return self._container

    def disk(self, most_files: int) -> DiskUse:
        """What it has taken of the disk; no more than about so many files are looked at."""
        return self._meter.measure(most_files)

    def overlay(self) -> Overlay | None:
        """The container's file system on this host, None where it cannot be read."""
        return self._overlay()

    def close(self) -> None:
        """End the session and remove its container."""
        try:
            super().close()
        finally:
            self._remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
