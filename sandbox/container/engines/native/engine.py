"""The engine without a daemon. Safe to use from several threads.

A container is a folder: `record.json` says what it is, `upper` holds what it wrote, `said` what
crun and the supervisor printed. crun runs as our child and ends with the container; where the
harness is killed the supervisor ends, then crun, and only the folder stays, for `sandbox gc`.
"""

import atexit
import contextlib
import functools
import json
import os
import secrets
import socket
import struct
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from sandbox.container.engines import creation
from sandbox.container.engines.base import (
    CREATED,
    MANAGED,
    ContainerInfo,
    EngineInfo,
    Overlay,
    SessionSpec,
)
from sandbox.container.engines.container_session import ContainerSession
from sandbox.container.engines.disk import DiskMeter, free_bytes
from sandbox.container.engines.interception import allowed
from sandbox.container.engines.native import bundle, crun, mounting, profile, user_name_space
from sandbox.container.engines.native.images import NativeImages
from sandbox.container.engines.native.running import BEGUN, Running, runs
from sandbox.container.engines.runtimes import VARIABLE as RUNTIME
from sandbox.container.engines.streams import Listener, SocketStream, Unreachable
from sandbox.container.engines.uninterrupted import uninterrupted
from sandbox.container.supervisor import compiler
from sandbox.model.base import Record
from sandbox.model.errors import EngineError, UsageError
from sandbox.model.places import cache

MACHINE = os.uname().machine
READY_SECONDS = 30.0
RECORD = "record.json"
TRANSPORT = "SANDBOX_TRANSPORT"
PEER = struct.Struct("3i")
"""Process, user and group of who has connected (unix(7), SO_PEERCRED)."""


class ContainerRecord(Record):
    """What a container is, as its file says."""

    labels: dict[str, str]
    layers: tuple[str, ...]
    """Of its image; they are kept while it is there."""


class NativeEngine(NativeImages):
    """An engine whose images and containers lie in a folder of the cache."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, self._needed)
        self._containers = folder / "containers"
        self._containers.mkdir(exist_ok=True, mode=0o700)
        self._filters = profile.Filters(folder / "filters")
        self._running: dict[str, Running] = {}
        atexit.register(self._remove_owned)

    @classmethod
    def connect(cls) -> Self:
        """The engine of this machine; EngineError, with what to do, where there can be none."""
        _check_choices()
        check_rights()
        lacking = crun.missing()
        if lacking:
            raise EngineError(
                f"The native engine needs {', '.join(lacking)}, which this machine lacks.",
                "Run `sandbox --engine native doctor --mend`, or install them by hand.",
            )
        _profile()
        return cls(cache() / "native")

    def info(self) -> EngineInfo:
        """Version and abilities."""
        here = os.uname()
        version2 = Path("/sys/fs/cgroup/cgroup.controllers").exists()
        return EngineInfo(
            name="native",
            version=crun.version(),
            endpoint=str(self._store.folder),
            storage_driver="overlay",
            control_groups="2" if version2 else "1",
            kernel=here.release,
            architecture=MACHINE,
            root=str(self._store.folder),
            local=True,
            api="1.0.0",
            runtime="crun",
            rootless=user_name_space.is_within(),
        )

    def free_bytes(self) -> int | None:
        """What is free on its disk."""
        return free_bytes(self._store.folder)

    def start(self, spec: SessionSpec) -> ContainerSession:
        """Start a container and return once its supervisor has answered."""
        name = f"sandbox-{secrets.token_hex(8)}"
        stream: SocketStream | None = None
        try:
            with Listener() as listener:
                launch = functools.partial(self._launch, name, spec, listener.folder)
                running = uninterrupted(launch)
                connection = _accepted(running, listener)
            self._filters.keep(_profile(), crun.compiled(name))
            stream = SocketStream(connection, running.fate)
            return ContainerSession(
                stream,
                ready_timeout=READY_SECONDS,
                container=name,
                overlay=functools.partial(self._overlay, name),
                meter=self._meter(running),
                remove=functools.partial(self._stop if spec.keep else self._remove, name),
            )
        except BaseException as error:
            if stream is not None:
                stream.close()
            self._remove(name)
            if isinstance(error, Unreachable):
                raise EngineError(
                    "No socket can be made for the supervisor: the path is too long.",
                    "Set TMPDIR to a folder with a shorter path.",
                ) from error
            raise

    def containers(self, label: str) -> list[ContainerInfo]:
        """All containers that carry a label, those that have stopped too."""
        key, _, value = label.partition("=")
        found = []
        for folder in sorted(self._containers.iterdir()):
            with contextlib.suppress(FileNotFoundError):
                labels = self._record(folder.name).labels
                if labels.get(key) == (value or labels.get(key)) and key in labels:
                    running = runs(folder)
                    begun = (folder / BEGUN).exists()
                    found.append(ContainerInfo(folder.name, labels, running=running, begun=begun))
        return found

    def remove_container(self, container: str) -> None:
        """Kill and remove a container; no error where it is gone."""
        running = self._running.pop(container, None)
        if running is not None:
            running.removed = True
            running.kill()
        else:
            crun.delete(container)
        if (self._containers / container).exists():
            crun.erase(self._containers / container)

    def close(self) -> None:
        """Release what images were copied by; what an interrupt left goes with the process."""
        self._release()
        if not self._running:
            atexit.unregister(self._remove_owned)

    def _launch(self, name: str, spec: SessionSpec, control: Path) -> Running:
        folder = self._containers / name
        image = self._stored(spec.image)
        with self._store.locked():
            if not self._store.has(image):
                raise EngineError(f"The image {spec.image} was removed just now.", "Build again.")
            folder.mkdir(mode=0o700)
            labels = {**spec.labels, MANAGED: "1", CREATED: f"{time.time():.0f}"}
            record = ContainerRecord(labels=labels, layers=image.layers)
            (folder / RECORD).write_text(record.model_dump_json())
        for part in ("upper", "work", "root"):
            (folder / part).mkdir(mode=0o755)
        place = bundle.Place(
            name,
            folder / "root",
            compiler.binary(MACHINE),
            creation.hosts_file(spec.hostname),
            control,
        )
        narrowed = replace(spec, interception=allowed(spec.interception))
        config = bundle.session(narrowed, place, _profile())
        config["annotations"] = self._filters.annotation(_profile())
        (folder / "config.json").write_text(json.dumps(config))
        options = mounting.overlay(self._store.paths(image.layers), folder)
        running = self._running[name] = Running.begin(name, folder, options)
        return running

    def _remove(self, name: str) -> None:
        """Remove a container of ours, also where a second Ctrl-C comes."""
        uninterrupted(functools.partial(self.remove_container, name))

    def _stop(self, name: str) -> None:
        """Leave what a container of ours wrote, and nothing running."""
        running = self._running.pop(name, None)
        if running is not None:
            uninterrupted(running.kill)

    def _record(self, name: str) -> ContainerRecord:
        return ContainerRecord.model_validate_json((self._containers / name / RECORD).read_bytes())

    def _needed(self) -> Iterator[str]:
        """Give the layers of all containers."""
        for folder in self._containers.iterdir():
            with contextlib.suppress(OSError, ValueError):
                yield from self._record(folder.name).layers

    def _overlay(self, name: str) -> Overlay | None:
        try:
            lower = self._record(name).layers
        except FileNotFoundError:
            return None
        return Overlay(self._containers / name / "upper", tuple(self._store.paths(lower)))

    def _meter(self, running: Running) -> DiskMeter:
        return DiskMeter(
            self._store.folder,
            upper=lambda: running.folder / "upper",
            init=lambda: running.first,
            told=lambda: None,
        )

    def _remove_owned(self) -> None:
        for name in tuple(self._running):
            self.remove_container(name)


def check_rights() -> None:
    """Raise EngineError where file systems cannot be mounted, which may be a NameSpaceError."""
    if os.uname().sysname != "Linux":
        raise EngineError(
            "The native engine needs Linux: it mounts file systems.",
            "Use a Docker engine (unset SANDBOX_ENGINE).",
        )
    if os.geteuid() != 0:
        raise user_name_space.needed()


def _accepted(running: Running, listener: Listener) -> socket.socket:
    """Wait for the supervisor; EngineError, with what crun says, where it does not come."""
    try:
        connection = listener.accept(running.is_alive, READY_SECONDS)
    except Unreachable:
        said = running.said() or "its supervisor did not answer"
        raise EngineError(f"Starting a container failed: {said}.") from None
    first, _, _ = PEER.unpack(
        connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, PEER.size)
    )
    running.found(first)
    return connection


def _check_choices() -> None:
    """Refuse what is chosen for other engines; UsageError."""
    for variable, there in ((RUNTIME, "crun"), (TRANSPORT, "socket")):
        wanted = os.environ.get(variable) or there
        if wanted != there:
            raise UsageError(
                f"{variable} is {wanted!r}; the native engine has {there} alone.",
                f"Unset {variable}, or use a Docker engine.",
            )


def _profile() -> Mapping[str, Any]:
    return profile.read(MACHINE, bundle.names(creation.CAPABILITIES))
