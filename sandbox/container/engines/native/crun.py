"""crun, which makes a container's name spaces and control group and starts its first process.

It is called in a mount name space of its own, in which the container's overlay is mounted; with
the container both are gone, whatever became of the harness.
"""

import contextlib
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from sandbox.model.errors import EngineError

STATE = Path("/run/sandbox")
"""Where crun notes what runs."""
SECOND_HIERARCHY = Path("/sys/fs/cgroup/unified")
PROGRAMS = {"crun": "crun", "unshare": "util-linux", "mount": "mount", "tar": "tar"}
"""What has to be installed, and the package that has it on Debian and Ubuntu."""
LONGEST_OPTIONS = 4000
"""Bytes of a mount's options that the kernel takes, a page less a little (mount(2))."""

# crun refuses control groups of both versions beside each other; it is shown the first alone.
PREPARE = 'if mountpoint -q "$0"; then umount "$0"; fi; '
MOUNT = 'mount -t overlay -o "$1" overlay "$2" && shift 2 && '


def missing() -> list[str]:
    """The packages that lack."""
    return sorted({name for program, name in PROGRAMS.items() if not shutil.which(program)})


def overlay(lower: Sequence[Path], folder: Path) -> str:
    """The options of the mount that lays `folder`/upper over layers, the topmost first."""
    layers = ":".join(map(str, lower))
    options = f"index=off,lowerdir={layers},upperdir={folder}/upper,workdir={folder}/work"
    if len(options.encode()) > LONGEST_OPTIONS:
        raise EngineError(
            f"An image of {len(lower)} layers is too much for one mount of this kernel.",
            "Put the cache where its path is shorter (SANDBOX_CACHE), or use fewer layers.",
        )
    return options


def within(options: str, root: Path, command: Sequence[str]) -> list[str]:
    """A command that finds an overlay mounted at `root`, and nobody else does."""
    script = f'{PREPARE}{MOUNT}exec "$@"'
    program = ["unshare", "--mount", "sh", "-c", script, str(SECOND_HIERARCHY)]
    return [*program, options, str(root), *command]


def start(
    name: str, folder: Path, options: str, output: IO[bytes] | int, errors: IO[bytes] | int
) -> "subprocess.Popen[bytes]":
    """Run the container of a bundle; the process that is given ends with it, and as it does."""
    command = ["run", "--bundle", str(folder), name]
    return subprocess.Popen(
        within(options, folder / "root", ["crun", *_general(), *command]),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        start_new_session=True,  # a Ctrl-C is not meant for it
    )


def first_process(name: str) -> int | None:
    """The number of a container's first process on this host; None where it does not run."""
    try:
        found = json.loads((STATE / name / "status").read_bytes())["pid"]
        groups = Path(f"/proc/{found}/cgroup").read_text()
    except (OSError, ValueError, KeyError):
        return None
    return int(found) if name in groups else None


def delete(name: str) -> None:
    """Kill a container and forget it; no error where it is gone."""
    script = f'{PREPARE}exec "$@"'
    program = ["unshare", "--mount", "sh", "-c", script, str(SECOND_HIERARCHY), "crun"]
    if (STATE / name).exists():
        subprocess.run(
            [*program, *_general(), "delete", "--force", name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )


def erase(folder: Path) -> None:
    """Remove what a container wrote, however deep."""
    with contextlib.suppress(FileNotFoundError):
        folder.rename(folder.with_name(f".{folder.name}"))
    subprocess.run(
        ["rm", "-rf", "--", str(folder.with_name(f".{folder.name}"))],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


def _general() -> list[str]:
    return ["--cgroup-manager=cgroupfs", f"--root={STATE}"]


def version() -> str:
    """The version of crun, as it says."""
    done = subprocess.run(["crun", "--version"], capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0].removeprefix("crun version ")
