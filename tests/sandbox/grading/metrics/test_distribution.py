import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.grading.metrics.distribution import distribution, quantile, worst_mean


def test_quantiles_are_observed_values() -> None:
    values = [float(value) for value in range(1, 101)]
    found = distribution(values, [str(value) for value in values])
    assert (found.p50, found.p90, found.p95, found.p99, found.maximum) == (50, 90, 95, 99, 100)
    assert found.worst == pytest.approx(98)
    assert found.worst_interval
    assert found.worst_interval.low <= 98 <= found.worst_interval.high


def test_a_single_run_is_its_own_tail() -> None:
    found = distribution([3.0], ["a"])
    assert (found.p50, found.p99, found.worst) == (3, 3, 3)
    assert found.p95_interval is None


def test_one_bad_run_shows_in_the_tail_and_not_in_the_median() -> None:
    found = distribution([1.0] * 19 + [100.0], [str(number) for number in range(20)])
    assert (found.p50, found.worst) == (1, 100)


@pytest.mark.slow
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_every_interval_holds_its_estimate(values: list[float]) -> None:
    found = distribution(values, [str(number) for number in range(len(values))])
    for interval, value in (
        (found.p95_interval, found.p95),
        (found.worst_interval, found.worst),
    ):
        if interval is not None:
            assert interval.low <= value <= interval.high


@given(st.lists(st.floats(min_value=0, max_value=1e6), min_size=1, max_size=30))
def test_the_tail_is_in_order(values: list[float]) -> None:
    found = distribution(values, [str(index % 7) for index in range(len(values))])
    assert found.p50 <= found.p90 <= found.p95 <= found.p99 <= found.maximum
    assert found.p95 <= found.worst + 1e-9 <= found.maximum + 2e-9
    assert quantile(sorted(values), 1.0) == found.maximum
    assert worst_mean(sorted(values)) == found.worst
