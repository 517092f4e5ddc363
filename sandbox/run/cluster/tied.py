"""Runs a command that is interrupted when the process that started it is gone, however that ended.

    python -I -S tied.py PARENT COMMAND ...

Who is killed takes this process along, and a worker of a cluster kills its own children as it ends;
the command is neither's child and hears of it by a signal: PR_SET_PDEATHSIG, prctl(2). That goes by
the thread that forked, which has to live.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with(parent: int, number: signal.Signals) -> None:
    """Get a signal when the parent is gone; end at once where it is already."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def main(parent: int, command: list[str]) -> int:
    """Run the command, hand interrupts on to it, and give its exit code."""
    # A worker may have it ignored or blocked, which outlasts execve, too.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    die_with(parent, signal.SIGKILL)
    own = os.getpid()
    child = os.fork()
    if child == 0:
        die_with(own, signal.SIGINT)
        os.execv(command[0], command)  # noqa: S606 - what a node says, as a list
    signal.signal(signal.SIGINT, lambda *_: os.kill(child, signal.SIGINT))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) & 0xFF


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
