"""Calls that go on to their end although the wait for them is interrupted."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import TypeVar

LONGEST_SECONDS = 120
"""How long the end of such a call is waited for after an interrupt."""

Result = TypeVar("Result")


def uninterrupted(call: Callable[[], Result]) -> Result:
    """The result of `call`, which goes on to its end even where the wait for it is interrupted.

    An engine that has been told to create does so whether or not we stay to hear the answer;
    only after the answer can the container be removed for certain.
    """
    future: Future[Result] = Future()

    def work() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            future.set_exception(error)

    try:
        Thread(target=work, daemon=True).start()
        return future.result()
    except BaseException:
        if not future.cancel():  # else it has not begun and never will
            wait([future], timeout=LONGEST_SECONDS)
        raise
