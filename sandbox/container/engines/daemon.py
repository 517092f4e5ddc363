"""dockerd started by hand, where no service manager does it, also after an unclean stop."""

import contextlib
import os
import shutil
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from sandbox.model.errors import EngineError
from sandbox.model.places import cache

START_SECONDS = 90.0
STOP_SECONDS = 10.0
SAY_EVERY = 5.0
LAST_LINES = 15
SYSTEM_FOLDERS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def program() -> str | None:
    """Where dockerd is."""
    return shutil.which("dockerd", path=f"{os.environ.get('PATH', '')}:{SYSTEM_FOLDERS}")


def answers(path: Path) -> bool:
    """Whether an engine answers at a unix socket. Needs no library, hence takes a millisecond."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        try:
            client.connect(os.fspath(path))
            client.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
            return b" 200 " in client.recv(64)
        except OSError:
            return False


def running(name: str = "dockerd") -> int | None:
    """The process id of a program of this name."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and _name(folder.name) == name:
            return int(folder.name)
    return None


def is_dockerd(process: int) -> bool:
    """Whether a process id still stands for dockerd."""
    return _name(str(process)) == "dockerd"


def stop_containerd(run: Path) -> int | None:
    """End the containerd that a dead dockerd has left behind; its process id, None for none.

    Only one that runs with dockerd's own configuration below `run`; containers outlive it.
    """
    process = running("containerd")
    if process is None or running() is not None:
        return None
    words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    configuration = run / "docker/containerd/containerd.toml"
    if not any(Path(os.fsdecode(word)).resolve() == configuration.resolve() for word in words):
        return None
    os.kill(process, signal.SIGKILL)
    end = time.monotonic() + STOP_SECONDS
    while _name(str(process)) and time.monotonic() < end:
        time.sleep(0.02)
    return process


def clear(run: Path) -> list[str]:
    """Remove what an unclean stop has left in /run and what keeps dockerd from starting.

    A process is never touched, nor is what a living engine owns. Returns what was removed.
    """
    removed = []
    owned = {run / "docker.pid": "dockerd", run / "docker/containerd/containerd.pid": "containerd"}
    for file, name in owned.items():
        with contextlib.suppress(FileNotFoundError):
            if _name(file.read_text().strip()) != name:
                file.unlink()
                removed.append(f"{file}: its process is gone or is another program")
    system = run / "containerd/containerd.sock"  # dockerd uses it if it is there
    if system.exists() and not _accepts(system):
        system.unlink()
        removed.append(f"{system}: nothing listens there")
    return removed


def start(path: Path, options: tuple[str, ...], on_line: Callable[[str], None]) -> None:
    """Start dockerd, detached, and wait until it answers at `path`; raises `EngineError`."""
    executable = program()
    if executable is None:
        raise EngineError("dockerd is not installed.", "Install the package docker.io.")
    log = cache() / "dockerd.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PATH": f"{SYSTEM_FOLDERS}:{os.environ.get('PATH', '')}"}
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    process = os.posix_spawn(
        executable,
        ["dockerd", *options],
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.fspath(log), flags, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )
    on_line(f"started dockerd (process {process}, log {log})")
    if not wait(path, on_line, lambda: os.waitpid(process, os.WNOHANG) == (0, 0)):
        lines = log.read_text(errors="replace").splitlines()[-LAST_LINES:]
        said = "\n".join(f"    {line}" for line in lines)
        raise EngineError(f"dockerd did not start. Its log {log} ends with:\n{said}")


def wait(path: Path, on_line: Callable[[str], None], alive: Callable[[], bool]) -> bool:
    """Whether an engine answers at `path` before its process ends or the time is up."""
    begin = time.monotonic()
    said = begin
    while not answers(path):
        now = time.monotonic()
        if now - begin > START_SECONDS or not alive():
            return False
        if now - said > SAY_EVERY:
            said = now
            on_line(f"  waiting for dockerd ({now - begin:.0f} s)")
        time.sleep(0.05)
    return True


def _name(process: str) -> str:
    """The program that a process id stands for, empty where there is none.

    A zombie is none: nobody may ever collect it where the first process is no init.
    """
    try:
        status = Path(f"/proc/{int(process)}/status").read_text()
    except (OSError, ValueError):
        return ""
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    return "" if fields.get("State", "Z")[0] in "ZX" else fields.get("Name", "")


def _accepts(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(os.fspath(path))
        except OSError:
            return False
        return True
