"""Runs the probe in a container, as the agent, and reads what it tells."""

import platform
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from sandbox.container.engines.base import Session
from sandbox.model.session import AGENT, Command, User

SOURCE = Path(__file__).with_name("probe.c")
FLAGS = ("-static", "-O1", "-s", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One thing that the probe has tried."""

    name: str
    done: bool
    """Whether it worked, which it must not."""
    detail: str

    def __str__(self) -> str:
        return f"{'DONE   ' if self.done else 'refused'}  {self.name}: {self.detail}"


@cache
def program() -> bytes:
    """The probe, compiled for this machine."""
    target = Path(mkdtemp()) / "probe"
    architecture = {"arm64": "aarch64"}.get(platform.machine(), platform.machine())
    command = [sys.executable, "-m", "ziglang", "cc", "-target", f"{architecture}-linux-musl"]
    subprocess.run([*command, *FLAGS, "-o", target, SOURCE], check=True)
    return target.read_bytes()


def attempts(session: Session, *part: str, user: User = AGENT) -> list[Attempt]:
    """Let the probe try everything, or one part."""
    session.write("/tmp/probe", program(), mode=0o755)
    done = session.run(Command(("/tmp/probe", *part), user=user, timeout=60))
    assert (done.exit_code, done.stderr) == (0, b""), done
    rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
    return [Attempt(name, result == "done", detail) for name, result, detail in rows]
