"""Ctrl-C, and the signals that mean the same: what was begun is put away before the end."""

import os
import signal
import sys
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EXIT_CODE = 130
IGNORED = 2
AGAIN = 0.01
"""Seconds after which an interrupt that was lost is raised again."""
PATIENCE = b"\nstill putting things away; once more to leave them to `sandbox gc`\n"


class Interrupts:
    """Makes the first signal a KeyboardInterrupt; the third ends the process where it stands.

    The second one, mostly of an impatient person, must not break off what the first has begun.

    One that comes while Python runs a destructor, or what stands behind a weak reference, would be
    printed and forgotten, for nothing can be raised from there. It is raised again a moment later.
    """

    def __init__(self) -> None:
        self._count = 0
        self._lost = sys.unraisablehook

    def install(self) -> None:
        """Take the signals, but those that whoever started us wants ignored (`nohup`, `&`)."""
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._take)
        signal.signal(signal.SIGALRM, self._take)
        self._lost, sys.unraisablehook = sys.unraisablehook, self._raise_again

    def _raise_again(self, lost: "sys.UnraisableHookArgs", /) -> None:
        if lost.exc_type is not None and issubclass(lost.exc_type, KeyboardInterrupt):
            self._count = 0
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
        else:
            self._lost(lost)

    def _take(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self._count += 1
        if self._count == 1:
            raise KeyboardInterrupt
        if self._count > IGNORED:
            os._exit(EXIT_CODE)
        os.write(2, PATIENCE)  # sys.stderr may be in the middle of a write

    def caused(self, error: BaseException) -> bool:
        """Whether an error is what became of an interrupt.

        One that comes while a class is made, which is to say while modules are loaded, is raised
        again as a RuntimeError by Python 3.11 ("Error calling __set_name__ on ..."), and by
        pydantic as a SchemaError that has it in its text alone.
        """
        found: BaseException | None = error if self._count else None
        while found is not None:
            if isinstance(found, KeyboardInterrupt) or KeyboardInterrupt.__name__ in str(found):
                return True
            found = found.__cause__ or found.__context__
        return False
