"""The engine behind the Docker API: Docker or podman. Safe to use from several threads."""

import atexit
import contextlib
import functools
import os
import secrets
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from sandbox.container.engines import creation
from sandbox.container.engines.base import ContainerInfo, EngineInfo, SessionSpec
from sandbox.container.engines.container_session import ContainerSession
from sandbox.container.engines.docker import (
    APIClient,
    ConflictError,
    MissingError,
    reach,
    translated,
)
from sandbox.container.engines.docker_images import DockerImages
from sandbox.container.engines.docker_storage import DockerStorage
from sandbox.container.engines.endpoints import Endpoint
from sandbox.container.engines.hijack import attach
from sandbox.container.engines.interception import allowed
from sandbox.container.engines.runtimes import Runtime
from sandbox.container.engines.streams import AttachStream, Listener, SocketStream, Unreachable
from sandbox.container.engines.uninterrupted import uninterrupted
from sandbox.container.supervisor import compiler as supervisor
from sandbox.model.architecture import kernel_name
from sandbox.model.errors import EngineError, UsageError

READY_SECONDS = 30.0
NOTICE_SECONDS = 2.0
"""How long an engine may take to notice that a container has ended."""
KILLED = 128 + 9
SELINUX = Path("/sys/fs/selinux/enforce")


class DockerEngine(DockerImages):
    """An engine that was reached at `endpoint`."""

    def __init__(self, client: APIClient, endpoint: Endpoint) -> None:
        super().__init__(client)
        self._endpoint = endpoint
        self._owned: set[str] = set()
        self._socket_works = True
        atexit.register(self._remove_owned)

    @classmethod
    def connect(cls) -> Self:
        """The first endpoint that answers; `EngineError` where none does."""
        return cls(*reach())

    def info(self) -> EngineInfo:
        """Version and abilities."""
        facts = self._facts
        with translated("Asking for its version"):
            components = self._client.version().get("Components") or [{}]
        return EngineInfo(
            name="podman" if "podman" in str(components[0].get("Name", "")).lower() else "docker",
            version=str(facts.get("ServerVersion", "")),
            endpoint=self._endpoint.address,
            storage_driver=str(facts.get("Driver", "")),
            control_groups=str(facts.get("CgroupVersion") or "1"),
            kernel=str(facts.get("KernelVersion", "")),
            architecture=self._architecture,
            root=str(facts.get("DockerRootDir", "")),
            local=self._local,
            api=str(self._client.api_version),
            runtime=self._runtime.name,
            rootless=self._runtime.rootless,
        )

    def free_bytes(self) -> int | None:
        """What is free on its disk, None where this host cannot tell."""
        return self._storage.free_bytes()

    def start(self, spec: SessionSpec) -> ContainerSession:
        """Start a container and return once its supervisor has answered."""
        # The engine cannot copy files out of a container whose socket's folder is gone.
        if self._by_socket() and not spec.keep:
            try:
                with Listener() as listener:
                    return self._launch(spec, listener)
            except Unreachable:  # e.g. the engine runs in a virtual machine that shares folders
                self._socket_works = False
        return self._launch(spec, None)

    def containers(self, label: str) -> list[ContainerInfo]:
        """All containers that carry a label, those that have stopped too."""
        with translated("Listing containers"):
            found = self._client.containers(all=True, filters={"label": label})
        return [
            ContainerInfo(
                each["Id"],
                each.get("Labels") or {},
                running=each.get("State") == "running",
                begun=each.get("State") != "created",
            )
            for each in found
        ]

    def remove_container(self, container: str) -> None:
        """Kill and remove a container; no error where it is gone."""
        try:
            self._kill_and_remove(container)
        except EngineError:
            if self._running(container):
                raise
            self._kill_and_remove(container)  # it ended just before the engine's kill
        self._owned.discard(container)

    def _kill_and_remove(self, container: str) -> None:
        with (
            contextlib.suppress(MissingError, ConflictError),  # conflict: it is being removed
            translated(f"Removing the container {container}"),
        ):
            self._client.remove_container(container, force=True, v=True)

    def close(self) -> None:
        """Release connections; a container that an interrupt left goes at the process's end."""
        if not self._owned:
            atexit.unregister(self._remove_owned)
        self._client.close()

    def _launch(self, spec: SessionSpec, listener: Listener | None) -> ContainerSession:
        name = f"sandbox-{secrets.token_hex(8)}"
        self._owned.add(name)
        stream: SocketStream | None = None
        try:
            uninterrupted(functools.partial(self._create, name, spec, listener))
            explain = functools.partial(self._fate, name)
            if listener is None:
                connection = attach(self._endpoint, self._client.api_version, name)
                stream = AttachStream(connection, explain)
            with translated("Starting the container"):
                self._client.start(name)
            if listener is not None:
                alive = functools.partial(self._running, name)
                stream = SocketStream(listener.accept(alive, READY_SECONDS), explain)
            assert stream is not None  # noqa: S101 - one of the two branches has set it
            return ContainerSession(
                stream,
                ready_timeout=READY_SECONDS,
                container=name,
                overlay=functools.partial(self._storage.overlay, name),
                meter=self._storage.meter(name),
                remove=functools.partial(self._stop if spec.keep else self._remove, name),
            )
        except BaseException:
            if stream is not None:
                stream.close()
            self._remove(name)
            raise

    def _remove(self, name: str) -> None:
        """Remove a container of ours, also where a second Ctrl-C comes."""
        uninterrupted(functools.partial(self.remove_container, name))

    def _stop(self, name: str) -> None:
        """Leave a container of ours stopped; it ends by itself once its stream is closed."""
        self._owned.discard(name)
        state = self._ended_state(name)
        if state and state.get("Running"):
            with (
                contextlib.suppress(MissingError, ConflictError),  # conflict: it has just ended
                translated(f"Stopping the container {name}"),
            ):
                self._client.kill(name)
            self._ended_state(name)

    def _create(self, name: str, spec: SessionSpec, listener: Listener | None) -> None:
        program = supervisor.binary(self._architecture)
        whole = functools.partial(
            creation.body,
            replace(spec, interception=allowed(spec.interception)),
            shared=creation.Shared(program, creation.hosts_file(spec.hostname))
            if self._mounts
            else None,
            control=listener.folder if listener else None,
            cpus=float(self._facts.get("NCPU") or spec.limits.cpus),
            runtime=self._runtime,
        )

        def create(quota: int | None) -> None:
            with translated(f"Creating a container of {spec.image}"):
                self._client.create_container_from_config(  # type: ignore[no-untyped-call]
                    whole(quota=quota), name
                )

        try:
            self._storage.create(spec.limits.disk_bytes, create)
        except MissingError as error:
            raise EngineError(
                f"The engine has no image {spec.image}.", "Run `sandbox build`."
            ) from error
        if not self._mounts:
            with translated("Copying the supervisor into the container"):
                self._client.put_archive(
                    name, "/", creation.upload(program, spec.hostname, spec.files)
                )

    def _fate(self, name: str, remarks: str) -> str:
        """Why a container's stream has ended, as far as the engine knows."""
        said = f"; its supervisor said: {remarks}" if remarks else ""
        try:
            state = self._ended_state(name)
        except EngineError as error:
            return f"the engine is gone ({error.message})"
        if state is None or state.get("Status") == "removing" or state.get("Dead"):
            return f"its container was removed by someone else{said}"
        if state.get("OOMKilled"):
            return f"its container ran out of memory{said}"
        if state.get("Running"):
            return f"the engine closed the stream of a container that still runs{said}"
        code = state.get("ExitCode")
        how = "was killed" if code == KILLED else f"ended with status {code}"
        return f"its container {how}{said}"

    def _ended_state(self, name: str) -> dict[str, Any] | None:
        """The state once the engine has noticed the end, None for a removed container."""
        end = time.monotonic() + NOTICE_SECONDS
        while True:
            state = self._state(name)
            if state is None or not state.get("Running") or time.monotonic() > end:
                return state
            time.sleep(0.02)

    def _state(self, name: str) -> dict[str, Any] | None:
        try:
            with translated("Looking at the container"):
                state: dict[str, Any] = self._client.inspect_container(name)["State"]
        except MissingError:
            return None
        return state

    def _running(self, name: str) -> bool:
        return bool((self._state(name) or {}).get("Running"))

    @functools.cached_property
    def _storage(self) -> DockerStorage:
        root = Path(str(self._facts.get("DockerRootDir", ""))) if self._local else None
        return DockerStorage(self._client, self._facts, root, lambda: self._runtime.shows_upper)

    @functools.cached_property
    def _facts(self) -> dict[str, Any]:
        with translated("Asking the engine about itself"):
            facts: dict[str, Any] = self._client.info()
        return facts

    @property
    def _runtime(self) -> Runtime:
        return Runtime.of(self._facts)

    @property
    def _architecture(self) -> str:
        return kernel_name(str(self._facts.get("Architecture", "")))

    @functools.cached_property
    def _local(self) -> bool:
        """Whether the engine sees this host's files: not from a virtual machine or a container."""
        here = os.uname()
        facts = self._facts
        return (
            self._endpoint.socket is not None
            and facts.get("KernelVersion") == here.release
            and facts.get("Name") == here.nodename
            and Path(str(facts.get("DockerRootDir", ""))).is_dir()
        )

    @functools.cached_property
    def _mounts(self) -> bool:
        """Whether our files can be mounted; SELinux refuses those not labelled for containers."""
        return self._local and not SELINUX.exists()

    def _by_socket(self) -> bool:
        wanted = os.environ.get("SANDBOX_TRANSPORT", "")
        if wanted not in ("", "attach", "socket"):
            raise UsageError(
                f"SANDBOX_TRANSPORT is {wanted!r}.", "Set it to attach or socket, or not at all."
            )
        reachable = self._mounts and self._runtime.on_the_hosts_kernel
        return wanted != "attach" and reachable and self._socket_works

    def _remove_owned(self) -> None:
        for name in tuple(self._owned):
            with contextlib.suppress(EngineError):
                self.remove_container(name)
