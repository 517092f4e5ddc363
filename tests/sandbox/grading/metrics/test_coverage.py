"""The intervals hold what they promise: nominal 95 %, observed between 92 and 98 of 100."""

from collections.abc import Callable

import numpy as np
import pytest

from sandbox.grading.metrics import intervals
from sandbox.grading.metrics.comparison import Pair, compare, sign_flip
from sandbox.grading.metrics.distribution import distribution
from sandbox.grading.metrics.reliability import Trials, reliability
from sandbox.model.report import Interval

REPEATS = 1000
Draw = Callable[[np.random.Generator], tuple[Interval | None, float]]


def observed(draw: Draw, repeats: int = REPEATS) -> float:
    """How often the interval covers the truth."""
    generator = np.random.default_rng(7)
    covered = 0
    for _ in range(repeats):
        found, truth = draw(generator)
        covered += found is not None and found.low <= truth <= found.high
    return covered / repeats


def trials(generator: np.random.Generator, tasks: int, n: int, families: int) -> list[Trials]:
    """Tasks whose chances differ, Beta(2, 2), and are alike within a family."""
    centres = generator.beta(2, 2, families)
    family = np.arange(tasks) % families
    passed = generator.binomial(n, centres[family])
    return [
        Trials(f"t{index}", f"f{family[index]}", int(passed[index]), n) for index in range(tasks)
    ]


def reliability_of(tasks: int, n: int, families: int, k: int) -> Draw:
    truths = {1: 0.5, 2: 0.3}  # E[p] and E[p^2] of Beta(2, 2)

    def draw(generator: np.random.Generator) -> tuple[Interval | None, float]:
        found = reliability(trials(generator, tasks, n, families), k)
        return found.pass_hat_k.interval, truths[k]

    return draw


@pytest.mark.parametrize(
    ("tasks", "n", "families", "k"),
    [(20, 4, 20, 1), (20, 4, 20, 2), (40, 3, 20, 1), (60, 1, 60, 1)],
)
def test_reliability_over_tasks(tasks: int, n: int, families: int, k: int) -> None:
    assert 0.92 <= observed(reliability_of(tasks, n, families, k), 2000) <= 0.98


def test_pooling_the_trials_would_not_hold() -> None:
    """Mistake: Wilson over pooled trials, .71 to .75 where tasks differ."""

    def draw(generator: np.random.Generator) -> tuple[Interval, float]:
        found = trials(generator, 20, 8, 20)
        return intervals.wilson(sum(t.passed for t in found), 20 * 8), 0.5

    assert observed(draw) < 0.8


def test_one_task() -> None:
    def draw(generator: np.random.Generator) -> tuple[Interval | None, float]:
        passed = int(generator.binomial(40, 0.7))
        return reliability([Trials("a", "a", passed, 40)], 1).pass_hat_k.interval, 0.7

    assert 0.92 <= observed(draw) <= 0.98


def ratio(generator: np.random.Generator, units: int) -> tuple[Interval | None, float]:
    """Errors per step, where tasks differ in both and the runs with more steps have more errors."""
    steps = generator.integers(10, 60, units)
    rate = generator.beta(2, 8, units) * steps / 35
    errors = generator.binomial(steps, np.clip(rate, 0, 1))
    found = intervals.bootstrap_ratio(errors.tolist(), steps.tolist(), "bootstrap over tasks")
    sizes = np.arange(10, 60)
    return found, float(0.2 / 35 * (sizes**2).mean() / sizes.mean())


@pytest.mark.slow
@pytest.mark.parametrize("units", [15, 40])
def test_a_ratio_over_tasks(units: int) -> None:
    assert 0.92 <= observed(lambda generator: ratio(generator, units)) <= 0.98


@pytest.mark.slow
def test_two_agents_on_the_same_tasks() -> None:
    def draw(generator: np.random.Generator) -> tuple[Interval | None, float]:
        return compare(pairs(generator, 0.1)).interval, 0.1

    assert 0.92 <= observed(draw, 300) <= 0.98


def test_the_permutation_test_keeps_its_level() -> None:
    generator = np.random.default_rng(11)
    found = [sign_flip([pair.difference for pair in pairs(generator, 0.0, 12)]) for _ in range(200)]
    rejected = sum(p is not None and p <= 0.05 for p in found) / len(found)
    assert rejected <= 0.08


def pairs(generator: np.random.Generator, shift: float, tasks: int = 25) -> list[Pair]:
    """Tasks on which A is better by `shift`, give and take."""
    chance = generator.uniform(0.3, 0.6, tasks)
    spread = generator.uniform(-0.1, 0.1, tasks)
    a = generator.binomial(4, chance + shift + spread)
    b = generator.binomial(4, chance)
    return [
        Pair(f"t{index}", f"t{index}", "x", int(a[index]), 4, int(b[index]), 4)
        for index in range(tasks)
    ]


@pytest.mark.slow
def test_the_tail_of_a_distribution() -> None:
    def draw(generator: np.random.Generator) -> tuple[Interval | None, float]:
        values = generator.exponential(1, 300)
        units = [str(index % 60) for index in range(300)]
        return distribution(values.tolist(), units).p95_interval, float(-np.log(0.05))

    assert 0.92 <= observed(draw, 200) <= 0.98
