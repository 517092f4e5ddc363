"""Ctrl-C, and the signals that mean the same: what was begun is put away before the end."""

import os
import signal
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EXIT_CODE = 130
IGNORED = 2
PATIENCE = b"\nstill putting things away; once more to leave them to `sandbox gc`\n"


class Interrupts:
    """Makes the first signal a KeyboardInterrupt; the third ends the process where it stands.

    The second one, mostly of an impatient person, must not break off what the first has begun.
    """

    def __init__(self) -> None:
        self._count = 0

    def install(self) -> None:
        """Take the signals, but those that whoever started us wants ignored (`nohup`, `&`)."""
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._take)

    def _take(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self._count += 1
        if self._count == 1:
            raise KeyboardInterrupt
        if self._count > IGNORED:
            os._exit(EXIT_CODE)
        os.write(2, PATIENCE)  # sys.stderr may be in the middle of a write


def caused(error: BaseException) -> bool:
    """Whether an error is what Python made of an interrupt.

    One that comes while a class is made, which is to say while modules are loaded, is raised again
    as a RuntimeError by Python 3.11 ("Error calling __set_name__ on ...").
    """
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, KeyboardInterrupt):
            return True
        found = found.__cause__ or found.__context__
    return False
