import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sandbox.grading.metrics.comparison import Pair, compare, detectable, holm, mcnemar, sign_flip


def pair(task: str, a: int, b: int, n: int = 4, family: str = "") -> Pair:
    return Pair(task, family or task, "x", a, n, b, n)


def test_tasks_are_paired() -> None:
    found = compare([pair("a", 4, 2), pair("b", 2, 0), pair("c", 3, 2)])
    assert (found.mean_a, found.mean_b) == pytest.approx((9 / 12, 4 / 12))
    assert found.difference == pytest.approx(5 / 12)
    assert found.interval
    assert found.interval.low <= found.difference <= found.interval.high
    assert (found.tasks, found.units) == (3, 3)


def test_the_permutation_test_is_exact_for_few_tasks() -> None:
    assert sign_flip([1.0, 1.0, 1.0, 1.0]) == pytest.approx(2 / 16)
    assert sign_flip([1.0, -1.0]) == pytest.approx(1)
    assert sign_flip([1.0]) is None


def test_sums_that_are_equal_but_for_their_rounding_are_equal() -> None:
    """Where scipy, which adds floating numbers up as they are, gives 0.984375."""
    assert sign_flip([-0.75, -0.1, 0.25, 0.25, 0.25, 0.3, -0.5, 0.3]) == pytest.approx(1)


EXACT = (-1.0, -0.75, -0.5, -0.125, 0.0, 0.25, 0.375, 1.0)
"""Numbers whose sums no rounding changes."""


@pytest.mark.slow
@given(st.lists(st.sampled_from(EXACT), min_size=2, max_size=9))
def test_the_exact_test_is_that_of_scipy(sums: list[float]) -> None:
    theirs = stats.permutation_test(
        (np.asarray(sums),),
        lambda x, axis: np.sum(x, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9999,
    )
    assert sign_flip(sums) == pytest.approx(float(theirs.pvalue))


def test_signs_that_are_drawn_come_near_the_exact_value() -> None:
    sums = [
        0.5,
        0.25,
        -0.25,
        1.0,
        0.75,
        -0.5,
        0.0,
        0.5,
        0.25,
        0.25,
        -0.75,
        1.0,
        0.5,
        -0.25,
        0.1,
        0.2,
    ]
    flipped = np.array(np.meshgrid(*[(-each, each) for each in sums])).reshape(len(sums), -1)
    exact = float((np.abs(flipped.sum(axis=0)) >= abs(sum(sums)) - 1e-9).mean())
    assert sign_flip(sums) == pytest.approx(exact, abs=0.015)


@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemar_is_the_exact_binomial_test(a_alone: int, b_alone: int) -> None:
    pairs = [pair(f"a{n}", 1, 0, 1) for n in range(a_alone)]
    pairs += [pair(f"b{n}", 0, 1, 1) for n in range(b_alone)]
    if pairs:
        theirs = stats.binomtest(a_alone, a_alone + b_alone).pvalue
        assert mcnemar(pairs) == pytest.approx(float(theirs))


def test_it_is_the_same_each_time_for_many_tasks() -> None:
    sums = [0.25 * ((index % 5) - 1) for index in range(40)]
    assert sign_flip(sums) == sign_flip(sums)


def test_tasks_of_a_family_are_flipped_together() -> None:
    pairs = [pair(str(index), 4, 0, family="one" if index < 4 else "two") for index in range(8)]
    found = compare(pairs)
    assert found.units == 2
    assert found.p_value == pytest.approx(2 / 4)


def test_mcnemar_only_for_one_trial_per_task() -> None:
    """Mistake: pooling trials into McNemar, 13 to 24 % false positives at nominal 5 %."""
    single = [pair(str(index), 1, 0, 1) for index in range(6)]
    assert mcnemar(single) == pytest.approx(2 / 64)
    assert mcnemar([pair("a", 1, 1, 1), pair("b", 0, 0, 1)]) == 1
    assert mcnemar([pair("a", 3, 1)]) is None
    assert mcnemar([pair("a", 1, 0, 1, "f"), pair("b", 1, 0, 1, "f")]) is None


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, None, 0.4]) == [0.9, None, pytest.approx(0.8)]
    assert holm([]) == []


def test_more_tasks_detect_smaller_differences() -> None:
    few = [pair(str(index), index % 3, 1) for index in range(6)]
    many = [pair(str(index), index % 3, 1) for index in range(60)]
    assert (detectable(many) or 0) < (detectable(few) or 0)
    assert detectable([pair("a", 2, 1), pair("b", 2, 1)]) is None
    assert detectable([pair("a", 2, 1)]) is None
