"""Drawn values: the same everywhere and for ever, and each purpose for itself."""

from hypothesis import given
from hypothesis import strategies as st

from sandbox.tasks.plans.drawing import DIGITS, LETTERS, Drawing


def test_what_is_drawn_never_changes() -> None:
    draw = Drawing("humanize/file-sizes", "change-desk", 7)
    assert draw.text(LETTERS, 6) == "hwymcb"
    assert draw.text(DIGITS, 6) == "587103"
    assert draw.shuffled(range(6)) == [4, 0, 3, 2, 5, 1]


@given(st.integers(1, 2**32), st.text(max_size=5))
def test_what_is_drawn_lies_below_its_bound(bound: int, purpose: str) -> None:
    draw = Drawing(purpose)
    assert all(0 <= draw.below(bound) < bound for _ in range(5))


@given(st.lists(st.integers()), st.integers())
def test_what_is_shuffled_is_all_there(values: list[int], number: int) -> None:
    assert sorted(Drawing(number).shuffled(values)) == sorted(values)


def test_every_value_is_drawn_about_as_often() -> None:
    draw = Drawing("even")
    counts = [0] * 10
    for _ in range(10_000):
        counts[draw.below(10)] += 1
    assert max(counts) - min(counts) < 200


def test_purposes_that_differ_draw_apart() -> None:
    assert Drawing("a", "bc").text(LETTERS, 9) != Drawing("ab", "c").text(LETTERS, 9)
