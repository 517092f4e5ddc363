"""Calls that go on to their end although the wait for them is interrupted."""

from collections.abc import Callable
from threading import Lock, Thread
from typing import TypeVar

from sandbox.model.latch import Latch

LONGEST_SECONDS = 120
"""How long the end of such a call is waited for after an interrupt."""

Result = TypeVar("Result")


def uninterrupted(call: Callable[[], Result]) -> Result:
    """The result of `call`, which goes on to its end even where the wait for it is interrupted.

    An engine that has been told to create does so whether or not we stay to hear the answer;
    only after the answer can the container be removed for certain.
    """
    results: list[Result] = []
    errors: list[BaseException] = []
    over, taken = Latch(), Lock()

    def work() -> None:
        if not taken.acquire(blocking=False):
            return
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            errors.append(error)
        over.open()

    try:
        Thread(target=work, daemon=True).start()
        over.wait()
    except BaseException:
        if not taken.acquire(blocking=False):  # else it has not begun and never will
            over.wait(LONGEST_SECONDS)
        raise
    if errors:
        raise errors[0]
    return results[0]
