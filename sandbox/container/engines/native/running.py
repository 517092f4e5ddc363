"""A container that this process has started, and how it ends."""

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sandbox.container.engines.native import crun
from sandbox.model.run_folder import write_whole

END_SECONDS = 5.0
"""How long a container that was killed may take to be gone."""
REMARKS = 4096
"""Bytes kept of what crun and the supervisor say."""
SAID, BEGUN = "said", "begun"
"""Files beside a container's bundle: what was printed, and the number of its first process."""
KILLED = (128 + signal.SIGKILL, -signal.SIGKILL)


def runs(folder: Path) -> bool:
    """Whether the container of a folder runs, whoever has started it."""
    try:
        if crun.is_of(int((folder / BEGUN).read_text()), folder.name):
            return True
    except (OSError, ValueError):
        pass
    return crun.first_process(folder.name) is not None


@dataclass(slots=True)
class Running:
    """A container's folder, crun's process, and the container's first one."""

    name: str
    folder: Path
    process: "subprocess.Popen[bytes]"
    first: int | None = None
    """The number of its first process on this host."""
    descriptor: int | None = None
    """By which that one is killed and no other that has its number later (pidfd_open(2))."""

    removed: bool = False
    """Whether it was removed while a session still used it."""

    @classmethod
    def begin(cls, name: str, folder: Path, options: str) -> Self:
        """Start crun on a bundle; what it prints goes to a file beside it."""
        with (folder / SAID).open("wb") as said:
            process = crun.start(name, folder, options, subprocess.DEVNULL, said)
        return cls(name, folder, process)

    def found(self, first: int) -> None:
        """Note the first process, and that the container has begun; it may have ended just now."""
        write_whole(self.folder / BEGUN, f"{first}\n".encode())
        self.first = first
        with contextlib.suppress(ProcessLookupError):
            self.descriptor = os.pidfd_open(first)

    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def said(self) -> str:
        """The end of what was printed, on one line."""
        try:
            text = (self.folder / SAID).read_bytes()[-REMARKS:]
        except OSError:
            return ""
        return " ".join(text.decode(errors="replace").split()).rstrip(".")

    def fate(self, _: str) -> str:
        """Why its stream has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(END_SECONDS)
        said = self.said()
        remarks = f"; its supervisor said: {said}" if said else ""
        if self.removed or not self.folder.exists():
            return f"its container was removed by someone else{remarks}"
        code = self.process.poll()
        if code is None:
            return f"a container that still runs has closed its stream{remarks}"
        how = "was killed" if code in KILLED else f"ended with status {code}"
        return f"its container {how}{remarks}"

    def kill(self) -> None:
        """End it, and wait until what crun made is put away: by itself, or by another one."""
        if self.descriptor is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.descriptor, signal.SIGKILL)
            os.close(self.descriptor)
            self.descriptor = None
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(END_SECONDS)
        crun.delete(self.name)
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
