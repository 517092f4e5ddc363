"""The system calls that a container may make: the profile that the distribution ships.

Its file is that of Podman and CRI-O, in Docker's format; what crun reads is the runtime's format:
https://github.com/opencontainers/runtime-spec/blob/main/config-linux.md#seccomp
"""

import base64
import functools
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox.model.errors import EngineError

PROFILE = Path("/usr/share/containers/seccomp.json")
PACKAGE = "golang-github-containers-common"

ANNOTATION = "run.oci.seccomp_bpf_data"
"""By which crun is given a filter that is made already (crun(1))."""

ARCHITECTURES = {"x86_64": ("SCMP_ARCH_X86_64", "amd64"), "aarch64": ("SCMP_ARCH_AARCH64", "arm64")}
"""By the kernel's name: what the filter calls it, and what the file's conditions do."""


@functools.cache
def read(architecture: str, capabilities: frozenset[str]) -> Mapping[str, Any]:
    """Give the filter of processes with some capabilities; EngineError where no file is there."""
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
        "architectures": [filtered, *_besides(data, filtered)],
        "syscalls": [_row(row) for row in data["syscalls"] if _holds(row, condition, capabilities)],
    }


class Filters:
    """Filters that crun has made of profiles: to make one takes longer than all else of a start."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def annotation(self, profile: Mapping[str, Any]) -> dict[str, str]:
        """Tell crun to take the filter that it made before; nothing where it has made none."""
        try:
            data = self._place(profile).read_bytes()
        except FileNotFoundError:
            return {}
        return {ANNOTATION: base64.b64encode(data).decode()}

    def keep(self, profile: Mapping[str, Any], compiled: bytes | None) -> None:
        """Keep the filter of a profile for the next container."""
        place = self._place(profile)
        if compiled and not place.exists():
            place.parent.mkdir(exist_ok=True, mode=0o700)
            partial = place.with_name(f".{secrets.token_hex(8)}")
            partial.write_bytes(compiled)
            partial.replace(place)

    def _place(self, profile: Mapping[str, Any]) -> Path:
        """Name a filter by what it is made of and by what makes it."""
        program = Path(shutil.which("crun") or "crun").stat()
        made_by = (program.st_size, program.st_mtime_ns, os.uname().release)
        whole = json.dumps([profile, made_by], sort_keys=True).encode()
        return self._folder / hashlib.sha256(whole).hexdigest()


def _besides(data: Mapping[str, Any], architecture: str) -> list[str]:
    """Give the architectures whose programs a machine runs as well: the supervisor refuses them.

    Without them the kernel would kill a program that the supervisor answers with an error.
    """
    return [
        each
        for row in data.get("archMap") or ()
        if row["architecture"] == architecture
        for each in row.get("subArchitectures") or ()
    ]


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
