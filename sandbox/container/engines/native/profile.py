"""The system calls that a container may make: the profile that the distribution ships.

Its file is that of Podman and CRI-O, in Docker's format; what crun reads is the runtime's format:
https://github.com/opencontainers/runtime-spec/blob/main/config-linux.md#seccomp
"""

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox.model.errors import EngineError

PROFILE = Path("/usr/share/containers/seccomp.json")
PACKAGE = "golang-github-containers-common"

ARCHITECTURES = {"x86_64": ("SCMP_ARCH_X86_64", "amd64"), "aarch64": ("SCMP_ARCH_AARCH64", "arm64")}
"""By the kernel's name: what the filter calls it, and what the file's conditions do."""


@functools.cache
def read(architecture: str, capabilities: frozenset[str]) -> Mapping[str, Any]:
    """Give the filter of processes with some capabilities; EngineError where no file is there.

    System calls of another architecture than the machine's own are not let through at all.
    """
    try:
        data = json.loads(PROFILE.read_bytes())
    except (OSError, ValueError) as error:
        raise EngineError(
            f"The native engine needs the profile of system calls in {PROFILE}: {error}.",
            f"Install it (on Debian and Ubuntu: apt-get install {PACKAGE}).",
        ) from error
    filtered, condition = ARCHITECTURES[architecture]
    return {
        "defaultAction": data["defaultAction"],
        "defaultErrnoRet": data.get("defaultErrnoRet", 1),
        "architectures": [filtered],
        "syscalls": [_row(row) for row in data["syscalls"] if _holds(row, condition, capabilities)],
    }


def _holds(row: Mapping[str, Any], architecture: str, capabilities: frozenset[str]) -> bool:
    """Whether a row of the file is meant for such processes."""
    wanted, unwanted = row.get("includes") or {}, row.get("excludes") or {}
    return (
        capabilities.issuperset(wanted.get("caps") or ())
        and architecture in (wanted.get("arches") or (architecture,))
        and not capabilities.intersection(unwanted.get("caps") or ())
        and architecture not in (unwanted.get("arches") or ())
    )


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"names": row["names"], "action": row["action"]}
    if row.get("errnoRet") is not None:
        found["errnoRet"] = row["errnoRet"]
    if row.get("args"):
        found["args"] = row["args"]
    return found
