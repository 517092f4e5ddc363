import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.grading.metrics.reliability import Trials, levels, pass_at, pass_hat, reliability
from sandbox.model.errors import UsageError


@given(st.integers(1, 8), st.data())
def test_both_are_the_share_of_samples_of_k(n: int, data: st.DataObject) -> None:
    """Unbiased by construction: the mean over every way to draw k of the n trials."""
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    samples = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at(k, n, c) == pytest.approx(sum(map(any, samples)) / len(samples))
    assert pass_hat(k, n, c) == pytest.approx(sum(map(all, samples)) / len(samples))


@given(st.integers(1, 6), st.floats(0.05, 0.95))
def test_pass_hat_is_unbiased(n: int, p: float) -> None:
    for k in range(1, n + 1):
        chances = [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
        mean = sum(chance * pass_hat(k, n, c) for c, chance in enumerate(chances))
        assert mean == pytest.approx(p**k)


def test_k_beyond_the_trials_is_refused_and_not_extrapolated() -> None:
    with pytest.raises(UsageError, match="only 3 graded trials of a/b"):
        reliability([Trials("a/b", "a/b", 2, 3), Trials("a/c", "a/c", 5, 8)], 4)
    with pytest.raises(UsageError, match="at least 1"):
        pass_at(0, 3, 1)
    with pytest.raises(UsageError):
        pass_hat(8, 3, 3)


def test_the_plug_in_estimate_is_not_used() -> None:
    """Mistake: p^k of a sample; at p = .8, n = 3, k = 8 it averages .527 where .168 is true."""
    chances = [math.comb(3, c) * 0.8**c * 0.2 ** (3 - c) for c in range(4)]
    plug_in = sum(chance * (c / 3) ** 8 for c, chance in enumerate(chances))
    assert plug_in == pytest.approx(0.527, abs=0.001)
    assert pass_hat(2, 4, 2) == pytest.approx(1 / 6) != (2 / 4) ** 2


def test_the_gap_is_between_one_trial_and_all_of_k() -> None:
    found = reliability([Trials("a", "a", 4, 4), Trials("b", "b", 2, 4)], 2)
    assert found.pass_at_k.value == pytest.approx((1 + 5 / 6) / 2)
    assert found.pass_hat_k.value == pytest.approx((1 + 1 / 6) / 2)
    assert found.gap == pytest.approx(0.75 - found.pass_hat_k.value)
    assert (found.k, found.trials) == (2, 4)


def test_errors_are_left_out_and_bounded() -> None:
    found = reliability([Trials("a", "a", 2, 3, errors=1)], 1).pass_hat_k
    assert found.value == pytest.approx(2 / 3)
    assert found.if_errors_fail == pytest.approx(2 / 4)
    assert found.if_errors_pass == pytest.approx(3 / 4)


def test_a_task_of_errors_alone_is_in_the_bounds_only() -> None:
    found = reliability([Trials("a", "a", 1, 1), Trials("b", "b", 0, 0, errors=1)], 1).pass_hat_k
    assert (found.value, found.if_errors_fail, found.if_errors_pass) == (1, 0.5, 1)
    with pytest.raises(UsageError, match="No run was graded"):
        reliability([Trials("b", "b", 0, 0, errors=1)], 1)


@pytest.mark.parametrize(
    ("tasks", "method"),
    [
        ([Trials("a", "a", 3, 5)], "wilson"),
        ([Trials("a", "a", 1, 1), Trials("b", "b", 0, 1)], "wilson"),
        ([Trials("a", "a", 3, 5), Trials("b", "b", 1, 5)], "t over tasks"),
        (
            [Trials("a", "f", 3, 5), Trials("b", "f", 1, 5), Trials("c", "g", 2, 5)],
            "t over tasks, clustered by family",
        ),
        (
            [Trials("a", "f", 1, 1), Trials("b", "f", 0, 1), Trials("c", "g", 1, 1)],
            "t over tasks, clustered by family",
        ),
        ([Trials("a", "a", 0, 5)], "exact, no event"),
        ([Trials("a", "a", 0, 5), Trials("b", "b", 0, 5)], "exact, no event"),
        ([Trials("a", "a", 5, 5), Trials("b", "b", 5, 5)], "exact, all events"),
        ([Trials("a", "f", 3, 5), Trials("b", "f", 1, 5)], None),
    ],
)
def test_the_interval_is_the_prescribed_one(tasks: list[Trials], method: str | None) -> None:
    found = reliability(tasks, 1).pass_hat_k
    assert (found.interval.method if found.interval else None) == method
    if found.interval:
        assert 0 <= found.interval.low <= found.value <= found.interval.high <= 1


def test_the_interval_of_one_task_follows_k() -> None:
    trials = [Trials("a", "a", 4, 8)]
    one, three = reliability(trials, 1), reliability(trials, 3)
    low, high = one.pass_hat_k.interval, three.pass_hat_k.interval
    assert low
    assert high
    assert high.low == pytest.approx(low.low**3)
    at = three.pass_at_k.interval
    assert at
    assert at.high == pytest.approx(1 - (1 - low.high) ** 3)


def test_every_interval_of_few_trials_holds_its_estimate() -> None:
    """All that one or two tasks of up to six trials can come to, for each k."""
    single = [Trials("a", "a", passed, n) for n in range(1, 7) for passed in range(n + 1)]
    pairs = [
        [one, Trials("b", "b", other.passed, other.graded)] for one in single for other in single
    ]
    seen = 0
    for tasks in ([[each] for each in single]) + pairs:
        for k in range(1, min(task.graded for task in tasks) + 1):
            found = reliability(tasks, k)
            for each in (found.pass_at_k, found.pass_hat_k):
                if each.interval is not None:
                    seen += 1
                    assert 0 <= each.interval.low <= each.value <= each.interval.high <= 1, tasks
    assert seen > 4000


@pytest.mark.parametrize(
    ("trials", "expected"),
    [(0, []), (1, [1]), (3, [1, 2, 3]), (8, [1, 2, 4, 8]), (5, [1, 2, 4, 5])],
)
def test_levels_of_k(trials: int, expected: list[int]) -> None:
    assert levels(trials) == expected
