import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sandbox.grading.metrics import intervals


def test_wilson_is_the_textbook_one() -> None:
    found = intervals.wilson(81, 263)
    assert (found.low, found.high) == pytest.approx((0.2553, 0.3662), abs=1e-4)


@given(st.integers(1, 10_000))
def test_zero_events_have_the_exact_upper_bound(n: int) -> None:
    found = intervals.zero_events(n)
    assert (1 - found.high) ** n == pytest.approx(0.05)
    assert intervals.all_events(n).low == pytest.approx(1 - found.high)


def test_t_without_shared_families_is_the_usual_one() -> None:
    found = intervals.clustered_t([0.2, 0.4, 0.9], ["a", "b", "c"])
    assert found
    assert (found.low, found.high) == pytest.approx((-0.3957, 1.3957), abs=1e-4)


def test_families_that_agree_make_the_interval_wider() -> None:
    values = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    alone = intervals.clustered_t(values, list("abcdefghi"))
    shared = intervals.clustered_t(values, list("aaabbbccc"))
    assert alone
    assert shared
    assert shared.units == 3
    assert shared.high - shared.low > alone.high - alone.low


def test_one_family_tells_nothing() -> None:
    assert intervals.clustered_t([0.2, 0.4], ["a", "a"]) is None
    assert intervals.bootstrap_ratio([1], [2], "bootstrap") is None


def test_units_that_are_all_alike_tell_nothing() -> None:
    assert intervals.bootstrap_ratio([1, 2, 3], [2, 4, 6], "bootstrap") is None


def test_the_same_numbers_give_the_same_interval() -> None:
    numbers = ([1.0, 5.0, 2.0, 7.0], [10.0, 9.0, 11.0, 12.0])
    first = intervals.bootstrap_ratio(*numbers, "bootstrap")
    intervals.resampled.cache_clear()
    assert intervals.bootstrap_ratio(*numbers, "bootstrap") == first


@pytest.mark.slow
@given(st.integers(1, 3000), st.floats(0.005, 0.995))
def test_quantiles_of_student_are_those_of_scipy(freedom: int, share: float) -> None:
    assert intervals.student_quantile(share, freedom) == pytest.approx(
        float(stats.t.ppf(share, freedom)), rel=1e-9, abs=1e-9
    )
