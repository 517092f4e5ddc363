"""What goes on in other threads ends when it is asked to."""

import threading
import time

import pytest

from sandbox.run.stop import Stop


def test_what_is_waited_for_is_given_or_raised_again() -> None:
    def divided(by: int) -> float:
        return 1 / by

    waited = Stop().waiting(divided)
    assert waited(2) == 0.5
    with pytest.raises(ZeroDivisionError):
        waited(0)


def test_nothing_is_waited_for_after_a_request_to_end() -> None:
    stop, held = Stop(), threading.Event()
    waited = stop.waiting(held.wait)
    threading.Timer(0.2, stop.request).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        waited(60)
    assert time.monotonic() - began < 30
    with pytest.raises(KeyboardInterrupt):
        waited(60)
    held.set()
