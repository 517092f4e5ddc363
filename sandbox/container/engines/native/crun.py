"""crun, which makes a container's name spaces and control group and starts its first process.

It is called in a mount name space of its own, in which the container's overlay is mounted; with
the container both are gone, whatever became of the harness.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import IO

from sandbox.container.engines.native import mounting, profile, user_name_space

FILTER = "seccomp.bpf"
"""What it calls the filter of system calls that it has made for a container."""
PROGRAMS = {"crun": "crun", "tar": "tar"}
"""What has to be installed besides the profile, and the package on Debian and Ubuntu."""


def state() -> Path:
    """Where crun notes what runs."""
    return (user_name_space.runtime() or Path("/run")) / "sandbox"


def general() -> tuple[str, ...]:
    """How crun is called, whatever it is to do."""
    manager = "systemd" if user_name_space.runtime() else "cgroupfs"
    return ("crun", f"--cgroup-manager={manager}", f"--root={state()}")


def group(name: str) -> str:
    """What crun is told of a container's control group: a path, or systemd's slice and scope."""
    return f"user.slice:sandbox:{name}" if user_name_space.runtime() else f"/sandbox/{name}"


def missing() -> list[str]:
    """The packages that lack."""
    found = {name for program, name in PROGRAMS.items() if not shutil.which(program)}
    return sorted(found if profile.PROFILE.exists() else {*found, profile.PACKAGE})


def version() -> str:
    """The version of crun, as it says."""
    done = subprocess.run(["crun", "--version"], capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0].removeprefix("crun version ")


def start(
    name: str, folder: Path, options: str, output: IO[bytes] | int, errors: IO[bytes] | int
) -> "subprocess.Popen[bytes]":
    """Run the container of a bundle; the process that is given ends with it, and as it does."""
    command = [*general(), "run", "--bundle", str(folder), name]
    return mounting.start(command, folder / "root", options, stdout=output, stderr=errors)


def compiled(name: str) -> bytes | None:
    """The filter of system calls of a container that runs, as the kernel takes it."""
    try:
        return (state() / name / FILTER).read_bytes()
    except OSError:
        return None


def first_process(name: str) -> int | None:
    """The number of a container's first process on this host; None where it does not run.

    crun writes it down some time after that process has begun.
    """
    try:
        found = json.loads((state() / name / "status").read_bytes())["pid"]
    except (OSError, ValueError, KeyError):
        return None
    return int(found) if is_of(found, name) else None


def is_of(process: int, name: str) -> bool:
    """Whether a process of this host runs, and is the container's."""
    try:
        return name in Path(f"/proc/{process}/cgroup").read_text()
    except OSError:
        return False


def processes(name: str) -> list[int]:
    """The numbers of a container's processes on this host, whether crun has noted it or not."""
    numbers = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    return [number for number in numbers if is_of(number, name)]


def build_name(folder: Path) -> str:
    """What the container is called that carries out a step of what is built in a folder."""
    return f"build-{folder.name.lstrip('.')}"


def delete(name: str) -> None:
    """Kill a container and forget it; no error where it is gone."""
    if (state() / name).exists():
        mounting.start([*general(), "delete", "--force", name], state(), None).wait()


def end(name: str) -> None:
    """Kill a container of somebody who is gone, perhaps before crun had noted what it is."""
    delete(name)
    for process in processes(name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def erase(folder: Path) -> None:
    """Remove what a container wrote, however deep."""
    hidden = folder.with_name(f".{folder.name}")
    with contextlib.suppress(FileNotFoundError):
        folder.rename(hidden)
    subprocess.run(
        ["rm", "-rf", "--", str(hidden)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
