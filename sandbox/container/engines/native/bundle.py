"""What crun is told about a container: the same confinement that a Docker engine is asked for.

Fields: https://github.com/opencontainers/runtime-spec/blob/main/config-linux.md
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.container.engines.base import AGENT_FILES, SUDO, SessionSpec
from sandbox.container.engines.creation import CAPABILITIES, CONTROL, HOSTS, SOCKET_NAME, SUPERVISOR
from sandbox.container.engines.native import crun

SWAPS = Path("/proc/swaps")
PERIOD = 100_000
"""Microseconds in which a container may use its processors for `cpus` times as long."""
NAME_SPACES = ("pid", "network", "ipc", "uts", "mount", "cgroup")

HIDDEN = (
    *("/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys"),
    *("/proc/latency_stats", "/proc/sched_debug", "/proc/scsi", "/proc/timer_list"),
    *("/proc/timer_stats", "/sys/devices/virtual/powercap", "/sys/firmware"),
)
"""What tells of the host, or lets it be changed; Docker's list."""
READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")

QUIET = ("nosuid", "noexec", "nodev")
FILE_SYSTEMS = (
    ("/proc", "proc", QUIET),
    ("/dev", "tmpfs", ("nosuid", "strictatime", "mode=755", "size=65536k")),
    (
        "/dev/pts",
        "devpts",
        ("nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"),
    ),
    ("/dev/shm", "tmpfs", (*QUIET, "mode=1777", "size=65536k")),  # noqa: S108 - not our own
    ("/dev/mqueue", "mqueue", QUIET),
    ("/sys", "sysfs", (*QUIET, "ro")),
    ("/sys/fs/cgroup", "cgroup", (*QUIET, "relatime", "ro")),
)


BUILDING = (
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"),
    *("NET_BIND_SERVICE", "NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
)
"""What a step of a build may do, as with Docker."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a container's parts lie on this host."""

    name: str
    root: Path
    """Where its file system is mounted, in a mount name space of crun's own."""
    supervisor: Path
    hosts: Path
    control: Path
    """The folder of the socket to which its supervisor comes."""


def session(spec: SessionSpec, place: Place, profile: Mapping[str, Any]) -> dict[str, Any]:
    """The runtime's configuration of a session."""
    arguments = [SUPERVISOR, "--unix", f"{CONTROL}/{SOCKET_NAME}"]
    arguments += [] if spec.interception == "exec" else [f"--{spec.interception}"]
    mounts = [
        _bind(place.supervisor, SUPERVISOR),
        _bind(place.supervisor, SUDO),
        _bind(place.hosts, HOSTS),
        _bind(place.control, CONTROL, "rw"),
    ]
    if spec.files:
        mounts.append(_bind(spec.files.absolute(), AGENT_FILES))
    return {
        "ociVersion": "1.0.0",
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": arguments,
            "env": ["PATH=/usr/bin:/bin", f"HOSTNAME={spec.hostname}"],
            "cwd": "/",
            "capabilities": _capabilities(CAPABILITIES),
            "rlimits": [{"type": "RLIMIT_CORE", "soft": 0, "hard": 0}],
            "noNewPrivileges": True,
        },
        "root": {"path": str(place.root)},
        "hostname": spec.hostname,
        "mounts": [*_file_systems(), *mounts],
        "linux": {
            "namespaces": [{"type": kind} for kind in NAME_SPACES],
            "cgroupsPath": crun.group(place.name),
            "resources": {
                "devices": [{"allow": False, "access": "rwm"}],
                "memory": _memory(spec.limits.memory_bytes),
                "pids": {"limit": spec.limits.processes},
                "cpu": {"period": PERIOD, "quota": _quota(spec.limits.cpus)},
            },
            "seccomp": profile,
            "maskedPaths": list(HIDDEN),
            "readonlyPaths": list(READ_ONLY),
        },
    }


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a Dockerfile."""

    command: list[str]
    environment: Mapping[str, str]
    user: str
    """By numbers, `user` or `user:group`; empty for root."""
    folder: str
    alone: bool
    """Whether it has no network, else it has this host's."""
    mounts: Mapping[str, Path]
    """Files of this host by where it finds them; it may write to them."""


def building(step: Step, root: Path, name: str, profile: Mapping[str, Any]) -> dict[str, Any]:
    """The runtime's configuration of a step of a build: as root of what it builds."""
    mounts = [_bind(path, target, "rw") for target, path in step.mounts.items()]
    user, _, group = (step.user or "0:0").partition(":")
    return {
        "ociVersion": "1.0.0",
        "process": {
            "user": {"uid": int(user), "gid": int(group or user)},
            "args": step.command,
            "env": [f"{key}={value}" for key, value in step.environment.items()],
            "cwd": step.folder,
            "capabilities": _capabilities(BUILDING) if int(user) == 0 else {},
        },
        "root": {"path": str(root)},
        "hostname": "build",
        "mounts": [*_file_systems(), *mounts],
        "linux": {
            "namespaces": [
                {"type": kind} for kind in NAME_SPACES if step.alone or kind != "network"
            ],
            "cgroupsPath": crun.group(name),
            "resources": {"devices": [{"allow": False, "access": "rwm"}]},
            "seccomp": profile,
            "maskedPaths": list(HIDDEN),
            "readonlyPaths": list(READ_ONLY),
        },
    }


def names(capabilities: Iterable[str]) -> frozenset[str]:
    """Capabilities as the kernel spells them."""
    return frozenset(f"CAP_{each}" for each in capabilities)


def _capabilities(given: Iterable[str]) -> dict[str, list[str]]:
    spelt = sorted(names(given))
    return dict.fromkeys(("bounding", "effective", "permitted"), spelt)


def _memory(limit: int) -> dict[str, int]:
    """No more with swap than without; a kernel without swap need not know how to limit it."""
    has_swap = len(SWAPS.read_text().splitlines()) > 1
    return {"limit": limit, "swap": limit} if has_swap else {"limit": limit}


def _quota(cpus: float) -> int:
    return int(min(cpus, os.cpu_count() or 1) * PERIOD)


def _file_systems() -> list[dict[str, Any]]:
    return [
        {"destination": target, "type": kind, "source": kind, "options": list(options)}
        for target, kind, options in FILE_SYSTEMS
    ]


def _bind(source: Path, target: str, access: str = "ro") -> dict[str, Any]:
    options = ["bind", "rprivate", "nosuid", "nodev", access]
    return {"destination": target, "type": "bind", "source": str(source), "options": options}
