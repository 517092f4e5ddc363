"""What an engine is told about a new container: as little as it can do its work with.

Fields: https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container
"""

import io
import secrets
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.container.engines.base import (
    AGENT_FILES,
    CREATED,
    MANAGED,
    RESERVED,
    SUDO,
    SessionSpec,
)
from sandbox.container.engines.runtimes import Runtime
from sandbox.model.places import cache

SUPERVISOR = f"{RESERVED}/supervisor"
CONTROL = f"{RESERVED}/control"
SOCKET_NAME = "socket"
HOSTS = "/etc/hosts"

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID")
"""What the supervisor needs to act as any user on files and processes, and nothing else."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Files of this host that are mounted into the container."""

    supervisor: Path
    hosts: Path


def hosts(hostname: str) -> str:
    """What the container's /etc/hosts says; the engine writes none where the network is off."""
    return f"127.0.0.1\tlocalhost {hostname}\n::1\tlocalhost\n"


def hosts_file(hostname: str) -> Path:
    """A file for /etc/hosts, made once for each name."""
    path = cache() / "hosts" / hostname
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{secrets.token_hex(8)}")
        partial.write_text(hosts(hostname))
        partial.chmod(0o644)
        partial.replace(path)
    return path


def body(
    spec: SessionSpec,
    *,
    shared: Shared | None,
    control: Path | None,
    cpus: float,
    runtime: Runtime | None = None,
    quota: int | None = None,
) -> dict[str, Any]:
    """The request that creates a container.

    `shared` is None where the engine does not share our files, `control` (the folder of our
    socket) where the attach stream is used; `cpus` is how many the engine has; `quota` is how many
    bytes the engine lets it write, None for no limit.
    """
    attached = control is None
    command = ["--stdio"] if attached else ["--unix", f"{CONTROL}/{SOCKET_NAME}"]
    command += [] if spec.interception == "exec" else [f"--{spec.interception}"]
    return {
        "Image": spec.image,
        "Hostname": spec.hostname,
        "User": "0:0",
        "WorkingDir": "/",
        "Env": [],
        "Entrypoint": [SUPERVISOR],
        "Cmd": command,
        "Healthcheck": {"Test": ["NONE"]},
        "Labels": {**spec.labels, MANAGED: "1", CREATED: f"{time.time():.0f}"},
        "Tty": False,
        "OpenStdin": attached,
        "StdinOnce": attached,  # the supervisor ends when the harness is gone
        "AttachStdin": attached,
        "AttachStdout": attached,
        "AttachStderr": attached,
        "NetworkDisabled": True,  # with the mode `none` alone, a start takes twice as long
        "HostConfig": {
            **_confinement(spec, cpus),
            **(_of_runtime(runtime) if runtime else {}),
            "Mounts": _mounts(shared, control, spec.files),
            **({"StorageOpt": {"size": str(quota)}} if quota else {}),
        },
    }


def _of_runtime(runtime: Runtime) -> dict[str, Any]:
    chosen = {"Runtime": runtime.name} if runtime.chosen else {}
    return {**chosen, "CapAdd": [*CAPABILITIES, *runtime.capabilities]}


def _confinement(spec: SessionSpec, cpus: float) -> dict[str, Any]:
    return {
        "NetworkMode": "none",
        "CapDrop": ["ALL"],
        "CapAdd": list(CAPABILITIES),
        "SecurityOpt": ["no-new-privileges"],
        "Privileged": False,
        "IpcMode": "private",
        "Init": False,
        "AutoRemove": False,
        "RestartPolicy": {"Name": "no"},
        "LogConfig": {"Type": "none"},
        "Memory": spec.limits.memory_bytes,
        "MemorySwap": spec.limits.memory_bytes,
        "PidsLimit": spec.limits.processes,
        "NanoCpus": int(min(spec.limits.cpus, cpus) * 1_000_000_000),
        "Ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}],
    }


def _mounts(
    shared: Shared | None, control: Path | None, files: Path | None
) -> list[dict[str, Any]]:
    mounts = []
    if shared:
        mounts.append(_bind(shared.supervisor, SUPERVISOR, read_only=True))
        mounts.append(_bind(shared.supervisor, SUDO, read_only=True))
        mounts.append(_bind(shared.hosts, HOSTS, read_only=True))
        if files:
            mounts.append(_bind(files.absolute(), AGENT_FILES, read_only=True))
    if control:
        mounts.append(_bind(control, CONTROL, read_only=False))
    return mounts


def _bind(source: Path, target: str, *, read_only: bool) -> dict[str, Any]:
    return {"Type": "bind", "Source": str(source), "Target": target, "ReadOnly": read_only}


def upload(supervisor: Path, hostname: str, files: Path | None = None) -> bytes:
    """The same files as a tar archive, for an engine that does not share ours."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        folder = tarfile.TarInfo(RESERVED.lstrip("/"))
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(folder)
        link = tarfile.TarInfo(SUDO.lstrip("/"))
        link.type, link.linkname = tarfile.SYMTYPE, SUPERVISOR
        archive.addfile(link)
        for path, mode, content in (
            (SUPERVISOR, 0o555, supervisor.read_bytes()),
            (HOSTS, 0o644, hosts(hostname).encode()),
        ):
            member = tarfile.TarInfo(path.lstrip("/"))
            member.size, member.mode = len(content), mode
            archive.addfile(member, io.BytesIO(content))
        if files:
            archive.add(files, AGENT_FILES.lstrip("/"), filter=_roots)
    return buffer.getvalue()


def _roots(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """What the agent cannot write: root's, writable by nobody else."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode &= 0o755
    return member
