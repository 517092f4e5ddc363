"""What an engine is told about a new container: as little as it can do its work with.

Fields: https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container
"""

import io
import tarfile
from pathlib import Path
from typing import Any

from sandbox.engines.base import MANAGED, RESERVED, SessionSpec

SUPERVISOR = f"{RESERVED}/supervisor"
CONTROL = f"{RESERVED}/control"
SOCKET_NAME = "socket"

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID")
"""What the supervisor needs to act as any user on files and processes, and nothing else."""


def body(
    spec: SessionSpec, *, supervisor: Path | None, control: Path | None, cpus: float
) -> dict[str, Any]:
    """The request that creates a container.

    `supervisor` and `control` are this host's paths to mount, None where the engine does not
    share our files; `cpus` is how many the engine has.
    """
    attached = control is None
    return {
        "Image": spec.image,
        "Hostname": spec.hostname,
        "User": "0:0",
        "WorkingDir": "/",
        "Env": [],
        "Entrypoint": [SUPERVISOR],
        "Cmd": ["--stdio"] if attached else ["--unix", f"{CONTROL}/{SOCKET_NAME}"],
        "Healthcheck": {"Test": ["NONE"]},
        "Labels": {**spec.labels, MANAGED: "1"},
        "Tty": False,
        "OpenStdin": attached,
        "StdinOnce": attached,  # the supervisor ends when the harness is gone
        "AttachStdin": attached,
        "AttachStdout": attached,
        "AttachStderr": attached,
        "NetworkDisabled": True,
        "HostConfig": _host(spec, supervisor, control, cpus),
    }


def _host(
    spec: SessionSpec, supervisor: Path | None, control: Path | None, cpus: float
) -> dict[str, Any]:
    mounts = [_bind(supervisor, SUPERVISOR, read_only=True)] if supervisor else []
    if control:
        mounts.append(_bind(control, CONTROL, read_only=False))
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
        "Mounts": mounts,
    }


def _bind(source: Path, target: str, *, read_only: bool) -> dict[str, Any]:
    return {"Type": "bind", "Source": str(source), "Target": target, "ReadOnly": read_only}


def upload(supervisor: Path) -> bytes:
    """The supervisor as a tar archive, for an engine that does not share our files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        folder = tarfile.TarInfo(RESERVED.lstrip("/"))
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(folder)
        program = tarfile.TarInfo(SUPERVISOR.lstrip("/"))
        content = supervisor.read_bytes()
        program.size, program.mode = len(content), 0o555
        archive.addfile(program, io.BytesIO(content))
    return buffer.getvalue()
