from itertools import product

import pytest

from sandbox.grading.metrics.pooled_rates import pooled
from sandbox.model.report import Ratio, RunMetrics
from sandbox.model.verdict import Verdict


def run(
    name: str, numerator: float, denominator: float, *, task: str = "", rate: str = "tool_error"
) -> RunMetrics:
    return RunMetrics(
        run=name,
        task=task or name,
        task_digest="d",
        family=(task or name).split("+")[0],
        facet=None,
        agent="a",
        verdict=Verdict.PASSED,
        rates={rate: Ratio(numerator=numerator, denominator=denominator)},
    )


def test_rates_are_ratios_of_sums() -> None:
    found = pooled([run("a", 1, 2), run("b", 1, 90), run("c", 0, 8)], "tool_error")
    assert (found.numerator, found.denominator, found.value) == (2, 100, 0.02)
    assert found.interval
    assert found.interval.method == "bootstrap over tasks"


def test_nothing_over_nothing_is_none() -> None:
    found = pooled([run("a", 0, 0), run("b", 0, 0)], "tool_error")
    assert (found.value, found.interval) == (None, None)
    assert pooled([], "tool_error").value is None
    assert pooled([run("a", 1, 1)], "recovery").value is None


def test_no_event_has_the_exact_bound_over_units() -> None:
    found = pooled([run(str(number), 0, 50) for number in range(10)], "tool_error")
    assert found.interval
    assert found.interval.high == pytest.approx(1 - 0.05 ** (1 / 10))


def test_runs_of_one_task_are_the_units() -> None:
    runs = [run(str(number), number % 3, 10, task="a/b") for number in range(6)]
    found = pooled(runs, "tool_error")
    assert found.interval
    assert found.interval.method == "bootstrap over runs"


def test_variants_of_a_template_are_one_unit() -> None:
    runs = [run(str(n), n, 10, task=f"{'xyz'[n % 3]}+{n}") for n in range(6)]
    found = pooled(runs, "tool_error")
    assert found.interval
    assert (found.interval.units, found.interval.method) == (3, "bootstrap over families")


def test_one_count_per_run_and_task_is_wilson() -> None:
    runs = [run(str(n), n % 2, 1, rate="lucky_pass") for n in range(6)]
    found = pooled(runs, "lucky_pass")
    assert found.interval
    assert found.interval.method == "wilson"


def test_the_cost_of_failures_is_paid_by_the_successes() -> None:
    runs = [run("a", 2.0, 1, rate="cost_per_success"), run("b", 3.0, 0, rate="cost_per_success")]
    assert pooled(runs, "cost_per_success").value == 5


@pytest.mark.slow
def test_every_interval_of_few_runs_holds_its_rate() -> None:
    """Four runs of a bounded rate, in all combinations of few counts."""
    shares = [(above, below) for below in (1, 3) for above in range(below + 1)]
    for four in product(shares, repeat=4):
        runs = [
            run(f"r{number}", above, below, task="t") for number, (above, below) in enumerate(four)
        ]
        found = pooled(runs, "tool_error")
        assert found.value is not None
        if found.interval is not None:
            assert found.interval.low <= found.value <= found.interval.high, four
