"""Runs a program and leaves nothing of it behind; `program.py` starts it as a process of its own.

    python -I -S guard.py LEASH REPORT PROGRAM [ARGUMENT...]

LEASH is the reading end of a pipe. Once the program has exited, or the writing end is closed, be it
because the harness was killed, every descendant is killed, and the guard ends as the program did.
It is their subreaper (prctl(2)), so that one that leaves its process group, its session or its
parent stays a descendant. REPORT is given the number of the error that keeps the program from
starting, and nothing where it runs.
"""

import contextlib
import ctypes
import errno
import os
import select
import signal
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
PAUSE = 0.002
"""Seconds between two looks at what still lives."""


class Guard:
    """One program and all that comes of it."""

    def __init__(self, command: list[str]) -> None:
        with contextlib.suppress(OSError, AttributeError):  # only Linux has it
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        # A byte for each child that ends.
        self._ended, note = os.pipe()
        os.set_blocking(self._ended, False)
        os.set_blocking(note, False)
        signal.set_wakeup_fd(note, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._status: int | None = None
        self._process = os.posix_spawnp(
            command[0], command, os.environ, setsid=True, setsigdef=(signal.SIGPIPE, signal.SIGINT)
        )
        signal.signal(signal.SIGINT, self._pass_on)

    def run(self, leash: int) -> int:
        """Wait for the program or the leash, then kill what is left; the status as of wait(2)."""
        while self._reap() and self._status is None:
            ready, _, _ = select.select([leash, self._ended], [], [])
            if leash in ready:
                break
            with contextlib.suppress(BlockingIOError):
                os.read(self._ended, 4096)
        while self._reap():
            self._kill()
            time.sleep(PAUSE)
        return self._status or 0

    def _pass_on(self, number: int, _frame: object) -> None:
        if self._status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-self._process, number)

    def _reap(self) -> bool:
        """Take the statuses of children that have ended; whether any is left."""
        try:
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == self._process:
                    self._status = found[1]
        except ChildProcessError:
            return False
        return True

    def _kill(self) -> None:
        processes = descendants(os.getpid())
        for process in processes or [-self._process]:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)


def descendants(root: int) -> list[int]:
    """Every process below one, as /proc tells; none where there is no /proc."""
    parents: dict[int, int] = {}
    with contextlib.suppress(FileNotFoundError):
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                # It may end while it is looked at.
                with contextlib.suppress(OSError):
                    status = (folder / "stat").read_bytes()
                    parents[int(folder.name)] = int(status.rpartition(b")")[2].split()[1])
    found, last = [], {root}
    while last:
        last = {process for process, parent in parents.items() if parent in last}
        found += sorted(last)
    return found


def end_as(status: int) -> None:
    """End this process as another one did, whose status wait(2) gave."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with contextlib.suppress(OSError):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)


def main() -> None:
    """Do what the arguments say."""
    leash, report = int(sys.argv[1]), int(sys.argv[2])
    for number in (leash, report):
        os.set_inheritable(number, False)  # noqa: FBT003 - that is how it is called
    try:
        if not sys.argv[3]:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        guard = Guard(sys.argv[3:])
    except OSError as error:
        os.write(report, str(error.errno).encode())
        sys.exit(127)
    # The program has its own; here they would hold its pipes open.
    for number in (report, 0, 1, 2):
        os.close(number)
    end_as(guard.run(leash))


if __name__ == "__main__":
    main()
