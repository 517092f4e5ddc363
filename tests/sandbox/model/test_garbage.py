"""The collector of garbage is paused for a while, and goes on whatever happened meanwhile."""

import gc
import weakref

import pytest

from sandbox.model import garbage


def test_nothing_is_collected_meanwhile_and_then_as_before() -> None:
    assert gc.isenabled()
    with garbage.paused():
        assert not gc.isenabled()
        with garbage.paused():
            pass
        assert not gc.isenabled(), "who has paused it first begins it again"
    assert gc.isenabled()


def test_it_goes_on_after_an_error() -> None:
    with pytest.raises(ValueError, match="x"), garbage.paused():
        raise ValueError("x")
    assert gc.isenabled()


def test_what_is_new_can_be_collected_while_it_is_paused() -> None:
    class Knot:
        itself: object = None

    with garbage.paused():
        knot = Knot()
        knot.itself, gone = knot, weakref.ref(knot)
        del knot
        assert gone() is not None
        garbage.collect_new()
        assert gone() is None
