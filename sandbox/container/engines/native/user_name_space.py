"""Without root: the process goes on in a user name space, where it is root of what is its own.

There it may be as many users as /etc/subuid gives it, mount overlays, and make containers;
user_namespaces(7), subuid(5). Their limits are those of control groups that the user's systemd
shares, which it does in version 2 alone.
"""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from sandbox.model.errors import EngineError, NameSpaceError

MAP = Path("/proc/self/uid_map")
INITIAL = ["0", "0", "4294967295"]
"""What the map says of a process that is in no such name space."""
PROGRAMS = {"unshare": "util-linux", "newuidmap": "uidmap"}
IDS = (Path("/etc/subuid"), Path("/etc/subgid"))
RUNTIME, BUS = "XDG_RUNTIME_DIR", "bus"
MAPS = "--map-auto"
"""What `unshare` knows from util-linux 2.38 on."""
COMMAND = ("unshare", "--user", "--map-root-user", MAPS, "--mount", "--")
GROUPS = Path("/sys/fs/cgroup")
LIMITS = frozenset({"cpu", "memory", "pids"})


@functools.cache
def is_within() -> bool:
    """Whether this process is in one."""
    return MAP.read_text().split() != INITIAL


@functools.cache
def runtime() -> Path | None:
    """The folder of the user whose systemd shares control groups with this process.

    None where it makes them itself, be it as root in a container that is a name space of its own.
    """
    folder = Path(os.environ.get(RUNTIME) or "/nonexistent")
    return folder if is_within() and (folder / BUS).is_socket() else None


def needed() -> NameSpaceError:
    """The error of a process that is not root; EngineError where it can be helped by nothing."""
    if missing := [*_missing()]:
        raise EngineError(
            f"Without root the native engine needs {' and '.join(missing)}.",
            "Be root, have whoever is root set that up, or use a Docker engine"
            " (unset SANDBOX_ENGINE).",
        )
    return NameSpaceError(
        "The native engine needs root, or a user name space in which this process is root.",
        f"Start it by `{' '.join(COMMAND)} COMMAND...`.",
    )


def enter() -> NoReturn:
    """Begin this process anew in one, with the same command; EngineError where that fails."""
    os.environ.setdefault(RUNTIME, str(_folder()))
    try:
        os.execvp(COMMAND[0], [*COMMAND, sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - none is needed
    except OSError as error:
        raise EngineError(f"A user name space cannot be entered: {error}.") from error


def _folder() -> Path:
    return Path(os.environ.get(RUNTIME) or f"/run/user/{os.getuid()}")


def _missing() -> Iterator[str]:
    for program, package in PROGRAMS.items():
        if not shutil.which(program):
            yield f"{program} (package {package})"
    if shutil.which("unshare") and MAPS not in _helped():
        yield "util-linux 2.38 or newer"
    own = {*_own_names()}
    for file in IDS:
        if not own & _named(file):
            yield f"a range of ids in {file} (usermod --add-{file.name}s)"
    user = os.getuid()
    groups = GROUPS / f"user.slice/user-{user}.slice/user@{user}.service/cgroup.controllers"
    there = groups.read_text().split() if groups.exists() else []
    if not LIMITS.issubset(there) or not (_folder() / BUS).is_socket():
        lacking = ", ".join(sorted(LIMITS.difference(there))) or "a bus"
        yield (
            "control groups of version 2 that the user's systemd shares"
            f" ({lacking} is missing; `loginctl enable-linger` keeps it running)"
        )


def _helped() -> str:
    return subprocess.run(["unshare", "--help"], capture_output=True, text=True, check=False).stdout


def _named(file: Path) -> set[str]:
    try:
        return {line.split(":")[0] for line in file.read_text().splitlines()}
    except OSError:
        return set()


def _own_names() -> Iterator[str]:
    import pwd

    yield str(os.getuid())
    try:
        yield pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return
