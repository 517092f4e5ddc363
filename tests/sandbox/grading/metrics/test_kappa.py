"""Agreement beyond chance, against published examples and laws that hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.grading.metrics.kappa import cohen, fleiss

JUDGED = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1)

# Fleiss (1971), as the example of 14 judges, 10 subjects and 5 categories is commonly printed.
COUNTS = """
0 0 0 0 14
0 2 6 4 2
0 0 3 5 6
0 3 9 2 0
2 2 8 1 1
7 7 0 0 0
3 2 6 3 0
2 5 3 2 2
6 5 2 1 0
0 2 2 3 7
"""


def test_fleiss_as_published() -> None:
    rows = [
        [place for place, count in enumerate(map(int, line.split())) for _ in range(count)]
        for line in COUNTS.strip().splitlines()
    ]
    found = fleiss(rows)
    assert found.pairs == 10
    assert found.observed == pytest.approx(0.378, abs=0.0005)
    assert found.kappa == pytest.approx(0.210, abs=0.0005)


def test_cohen_as_published() -> None:
    """50 proposals: 20 both yes, 15 both no, 5 yes and no, 10 no and yes."""
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    found = cohen([a for a, _ in pairs], [b for _, b in pairs])
    assert found.observed == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)


@given(JUDGED)
def test_two_judges_are_the_same_either_way_round(judged: list[tuple[str, str]]) -> None:
    one, other = [a for a, _ in judged], [b for _, b in judged]
    assert cohen(one, other) == cohen(other, one)
    found = cohen(one, one)
    assert found.observed == 1
    assert found.kappa in (None, pytest.approx(1))
    assert (found.kappa is None) == (len(set(one)) == 1)


@given(JUDGED)
def test_fleiss_lies_between_its_bounds(judged: list[tuple[str, str]]) -> None:
    found = fleiss(judged)
    assert found.kappa is None or -1 - 1e-9 <= found.kappa <= 1 + 1e-9


def test_nothing_agrees_with_nothing() -> None:
    assert cohen([], []).kappa is cohen([], []).observed is None
    assert fleiss([["a"], []]).pairs == 0
