"""Works at once: their order, what one raises, and an interrupt."""

import threading
from collections.abc import Iterator

import pytest

from sandbox.run.mine import at_once
from sandbox.run.stop import Stop


def test_what_comes_is_in_the_order_of_what_was_given() -> None:
    first = threading.Event()

    def work(number: int) -> int:
        if number == 0:
            first.wait(60)
        else:
            first.set()
        return number

    assert list(at_once(Stop(), 2, work, [0, 1, 2])) == [0, 1, 2]


def test_an_interrupt_ends_what_others_wait_for() -> None:
    stop, begun, never = Stop(), threading.Event(), threading.Event()

    def work(number: int) -> int:
        if number == 0:
            begun.wait(60)
            raise KeyboardInterrupt
        begun.set()
        stop.waiting(never.wait)()  # as a command in a container that goes on
        return number

    with pytest.raises(KeyboardInterrupt):
        list(at_once(stop, 2, work, [0, 1, 2]))
    with pytest.raises(KeyboardInterrupt):
        stop.check()
    never.set()


def test_who_wants_no_more_stops_nothing_for_good() -> None:
    stop = Stop()
    found: Iterator[int] = at_once(stop, 1, lambda number: number, [0, 1, 2])
    assert next(found) == 0
    del found
    stop.check()
