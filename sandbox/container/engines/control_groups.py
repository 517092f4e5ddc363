"""Control groups of this machine: without them an engine cannot limit a container."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from sandbox.model.errors import EngineError

MOUNTS = Path("/proc/mounts")
FOLDER = Path("/sys/fs/cgroup")
NEEDED = frozenset({"cpu", "memory", "pids"})
KINDS = ("cgroup", "cgroup2")


def is_mounted() -> bool:
    """Whether a hierarchy with controllers is mounted somewhere."""
    return any(line.split()[2] in KINDS for line in MOUNTS.read_text().splitlines())


def mount(on_line: Callable[[str], None]) -> None:
    """Mount them in their usual place, where nothing is; raises `EngineError`."""
    if os.geteuid() != 0 or not FOLDER.is_dir() or any(FOLDER.iterdir()):
        raise EngineError(
            f"No control groups are mounted on this machine, and {FOLDER} is not free.",
            "Mount them as root (package cgroupfs-mount), or use a machine that has them.",
        )
    on_line(f"mounting control groups at {FOLDER}")
    _mount("cgroup2", FOLDER)
    if set((FOLDER / "cgroup.controllers").read_text().split()) >= NEEDED:
        return
    subprocess.run(["umount", FOLDER], check=False, capture_output=True)
    _mount("tmpfs", FOLDER, "mode=755")
    for controller in _enabled():
        (FOLDER / controller).mkdir()
        _mount("cgroup", FOLDER / controller, controller)


def _enabled() -> list[str]:
    """Controllers of version 1 that this kernel has, by /proc/cgroups."""
    lines = Path("/proc/cgroups").read_text().splitlines()[1:]
    return [name for name, _, _, enabled in map(str.split, lines) if enabled == "1"]


def _mount(kind: str, target: Path, options: str = "rw") -> None:
    done = subprocess.run(
        ["mount", "-t", kind, "-o", options, kind, target],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise EngineError(
            f"Control groups cannot be mounted here: {done.stderr.strip()}.",
            "An engine needs a machine or a container with control groups.",
        )
