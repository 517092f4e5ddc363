"""Packages of Debian and Ubuntu, installed by apt where we are root."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from sandbox.model.errors import EngineError

OS_RELEASE = Path("/etc/os-release")
APT = ("apt-get", "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0")
LAST_LINES = 15
INTERRUPTED = "dpkg --configure -a"
OUTDATED = ("Unable to locate package", "has no installation candidate", "Failed to fetch")


def install(names: Sequence[str], on_line: Callable[[str], None]) -> None:
    """Install those of `names` that are missing, without what they only recommend.

    Says what it does on `on_line`. Raises `EngineError`: not root, not Debian, or apt failed.
    """
    missing = [name for name in names if not is_installed(name)]
    if not missing:
        return
    listed = " ".join(missing)
    if not is_debian():
        raise EngineError(
            f"{listed} is needed, and only Debian and Ubuntu are known here.",
            "Install it with this system's package manager.",
        )
    if os.geteuid() != 0:
        raise EngineError(
            f"{listed} is needed, and installing it needs root.",
            f"Run `sudo apt-get install {listed}`.",
        )
    on_line(f"installing {listed} with apt-get")
    command = [*APT, "install", "--yes", "--quiet", "--no-install-recommends", *missing]
    code, output = _run(command, on_line)
    if code and INTERRUPTED in output:
        on_line("finishing an installation that was interrupted: dpkg --configure -a")
        _run(["dpkg", "--configure", "-a"], on_line)
        code, output = _run(command, on_line)
    if code and any(sign in output for sign in OUTDATED):
        on_line("refreshing the package lists: apt-get update")
        _run([*APT, "update", "--quiet"], on_line)
        code, output = _run(command, on_line)
    if code:
        raise EngineError(
            f"apt-get could not install {listed}; it said:\n{_last(output)}",
            f"Mend what it says, then run `apt-get install {listed}`.",
        )


def is_debian() -> bool:
    """Whether this is Debian, Ubuntu or a kin of theirs."""
    try:
        text = OS_RELEASE.read_text()
    except OSError:
        return False
    kinds = re.findall(r'^ID(?:_LIKE)?="?([^"\n]*)', text, re.MULTILINE)
    return bool({"debian", "ubuntu"} & set(" ".join(kinds).split()))


def is_installed(name: str) -> bool:
    """Whether dpkg has it whole."""
    if shutil.which("dpkg-query") is None:
        return False
    asked = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Status}", name],
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip() == "install ok installed"


def _run(command: Sequence[str], on_line: Callable[[str], None]) -> tuple[int, str]:
    """Exit code and output; apt's own progress lines are passed on."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    lines = []
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None  # noqa: S101 - it was asked for
        for line in process.stdout:
            lines.append(line)
            if line.startswith(("Get:", "Setting up")):
                on_line(f"  {line.strip()}")
    return process.returncode, "".join(lines)


def _last(output: str) -> str:
    return "\n".join(f"    {line}" for line in output.splitlines()[-LAST_LINES:])
