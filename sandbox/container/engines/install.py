"""Find an engine; where none answers, install and start one (Debian and Ubuntu, as root)."""

import contextlib
import fcntl
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from sandbox.container.engines import control_groups, daemon, endpoints, find
from sandbox.container.engines.native import crun
from sandbox.container.engines.packages import install as packages
from sandbox.container.engines.packages import is_debian
from sandbox.model.errors import EngineError
from sandbox.model.places import cache

__all__ = ["mend", "packages"]

SOCKET = Path("/var/run/docker.sock")
RUN = Path("/run")
SYSTEMD = Path("/run/systemd/system")
APPARMOR = Path("/sys/module/apparmor/parameters/enabled")
WITHOUT_NETWORK = ("--bridge=none", "--iptables=false", "--ip6tables=false")
"""For kernels without netfilter; our containers have no network anyhow."""


def mend(on_line: Callable[[str], None]) -> None:
    """See to it that an engine answers, and say on `on_line` what is done for that.

    Raises `EngineError`, with what a person can do, where we may not or cannot.
    """
    if find.chosen() == "native":
        _mend_native(on_line)
        return
    if endpoints.chosen():
        find.connect().close()  # a person's own choice is theirs to start
        return
    if any(daemon.answers(path) for path in _sockets()):
        return
    with _alone(on_line):
        if daemon.answers(SOCKET):
            return
        _may_mend()
        if daemon.program() is None:
            on_line("no container engine is installed")
            packages(["docker.io", *(["apparmor"] if _has_apparmor() else [])], on_line)
        if SYSTEMD.is_dir():
            _start_service(on_line)
        else:
            _start_by_hand(on_line)
        on_line("the container engine is ready")


def _mend_native(on_line: Callable[[str], None]) -> None:
    """Install what the native engine calls."""
    lacking = crun.missing()
    if lacking:
        packages(lacking, on_line)
    if not control_groups.is_mounted():
        control_groups.mount(on_line)
    find.connect().close()


def _sockets() -> list[Path]:
    sockets = [each.socket for each in endpoints.candidates() if each.socket]
    return [path for path in sockets if os.access(path, os.F_OK)]


def _may_mend() -> None:
    if os.geteuid() != 0:
        raise EngineError(
            "No container engine answers, and only root may install or start one.",
            "Start yours (`sudo systemctl start docker`), be a member of its group "
            "(`sudo usermod -aG docker $USER`, then log in again), or run this as root.",
        )
    if daemon.program() is None and not is_debian():
        raise EngineError(
            "No container engine is installed, and only Debian and Ubuntu are known here.",
            "Install Docker or podman with this system's package manager and start it.",
        )


def _start_service(on_line: Callable[[str], None]) -> None:
    on_line("starting the service docker with systemctl")
    subprocess.run(["systemctl", "reset-failed", "docker"], capture_output=True, check=False)
    done = subprocess.run(
        ["systemctl", "start", "docker"], capture_output=True, text=True, check=False
    )
    if done.returncode or not daemon.wait(SOCKET, on_line, lambda: True):
        raise EngineError(
            f"The service docker did not start: {done.stderr.strip()}",
            "See `journalctl --unit docker`.",
        )


def _start_by_hand(on_line: Callable[[str], None]) -> None:
    if process := daemon.running():
        on_line(f"dockerd is starting already (process {process}); waiting for it")
        if daemon.wait(SOCKET, on_line, lambda: daemon.is_dockerd(process)):
            return
        if daemon.is_dockerd(process):
            raise EngineError(
                f"dockerd runs (process {process}), but does not answer at {SOCKET}.",
                f"Stop it (`kill {process}`), or name its socket with DOCKER_HOST.",
            )
    if not control_groups.is_mounted():
        control_groups.mount(on_line)
    try:
        _start_clean((), on_line)
    except EngineError as error:
        options: tuple[str, ...] = ()
        if "iptables" in error.message:
            on_line("dockerd cannot set up a network here; starting it without one")
            options = WITHOUT_NETWORK
        elif stopped := daemon.stop_containerd(RUN):
            on_line(f"stopped the containerd of an earlier dockerd (process {stopped})")
        else:
            raise
        _start_clean(options, on_line)


def _start_clean(options: tuple[str, ...], on_line: Callable[[str], None]) -> None:
    for removed in daemon.clear(RUN):
        on_line(f"removed {removed}")
    daemon.start(SOCKET, options, on_line)


def _has_apparmor() -> bool:
    try:
        return APPARMOR.read_text().startswith("Y")
    except OSError:
        return False


@contextlib.contextmanager
def _alone(on_line: Callable[[str], None]) -> Iterator[None]:
    """Let one process at a time install and start."""
    folder = cache()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "engine.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_line("another command is mending the engine; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
