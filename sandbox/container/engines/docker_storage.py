"""Where an engine behind the Docker API keeps what containers write."""

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sandbox.container.engines.base import Overlay
from sandbox.container.engines.disk import DiskMeter, free_bytes
from sandbox.container.engines.docker import APIClient, translated
from sandbox.model.errors import EngineError


class DockerStorage:
    """The engine's disk; `root` is None where it is another host's.

    `shows_upper` says whether the runtime in use writes to the upper directory as it is.
    """

    def __init__(
        self,
        client: APIClient,
        facts: Mapping[str, Any],
        root: Path | None,
        shows_upper: Callable[[], bool],
    ) -> None:
        self._client = client
        self._root = root
        self._shows_upper = shows_upper
        backing = dict(facts.get("DriverStatus") or ()).get("Backing Filesystem")
        self._holds = facts.get("Driver") == "overlay2" and backing == "xfs"

    def create(self, limit: int | None, create: Callable[[int | None], None]) -> None:
        """Create a container that the engine holds to so many bytes, where it can.

        Overlay2 on XFS can where that is mounted with `pquota`, which only trying tells.
        """
        if self._holds and limit is not None:
            try:
                create(limit)
            except EngineError as error:
                if "pquota" not in error.message:
                    raise
                self._holds = False
            else:
                return
        create(None)

    def free_bytes(self) -> int | None:
        """What is free on its disk, None where this host cannot tell."""
        return None if self._root is None else free_bytes(self._root)

    def overlay(self, container: str) -> Overlay | None:
        """A container's file system on this host, None where it cannot be read."""
        if self._root is None or not self._shows_upper():
            return None
        with translated("Looking at the container"):
            driver = self._client.inspect_container(container).get("GraphDriver") or {}
        data = driver.get("Data") or {}
        if driver.get("Name") != "overlay2" or not data.get("UpperDir"):
            return None
        overlay = Overlay(Path(data["UpperDir"]), tuple(map(Path, data["LowerDir"].split(":"))))
        readable = all(
            os.access(each, os.R_OK | os.X_OK) for each in (overlay.upper, *overlay.lower)
        )
        return overlay if readable else None

    def meter(self, container: str) -> DiskMeter:
        """Make what measures a container."""
        return DiskMeter(
            self._root,
            upper=lambda: found.upper if (found := self.overlay(container)) else None,
            init=functools.partial(self._first_process, container),
            told=functools.partial(self._written, container),
        )

    def _first_process(self, container: str) -> int | None:
        with translated("Looking at the container"):
            state = self._client.inspect_container(container)["State"]
        return state.get("Pid") or None

    def _written(self, container: str) -> int | None:
        """Bytes that a container has written, as the engine counts them; it leaves out a zero."""
        with translated("Looking at the container"):
            found = self._client.containers(all=True, size=True, filters={"name": container})
        return found[0].get("SizeRw", 0) if found else None
