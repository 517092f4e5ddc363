"""Gates: reached by the bound of an interval, slice by slice, and never by nothing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from sandbox.cli.app import application
from sandbox.grading.gate import judge
from sandbox.model import documents
from sandbox.model.errors import UsageError
from sandbox.model.gate import Condition, Finding, Gate
from sandbox.model.report import Ratio, RunMetrics
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.tasks.suites import suite
from tests import ROOT
from tests.sandbox.cli.pages.stored import stored_run

PASSED, FAILED = Verdict.PASSED, Verdict.FAILED


def metrics(number: int, verdict: Verdict, **others: object) -> RunMetrics:
    task = f"r/t{number}"
    fields = {"task": task, "family": task, "facet": "permission", "agent": "mine"} | others
    return RunMetrics.model_validate(
        {
            "run": f"{number}",
            "task_digest": "d",
            "verdict": verdict,
            "rates": {"step_legal": Ratio(numerator=9 + number % 2, denominator=10)},
            "sizes": {"seconds": float(number)},
            **fields,
        }
    )


def one(condition: dict[str, object], *runs: RunMetrics) -> Finding:
    (found,) = judge(Gate(conditions=(Condition.model_validate(condition),)), runs)
    return found


STANDARD = ROOT / "suites" / "standard.yaml"

MANY = [metrics(number, PASSED if number % 10 else FAILED) for number in range(1, 41)]


def test_a_threshold_is_reached_by_the_bound_and_not_by_the_estimate() -> None:
    wanted: dict[str, object] = {"metric": "pass^1", "at_least": 0.85}
    found = one(wanted, *MANY)
    assert found.interval is not None
    assert found.value == 0.9 > 0.85 > found.interval.low
    assert (found.holds, "the bound of its interval is" in found.reason) == (False, True)
    assert one(wanted | {"by": "estimate"}, *MANY).holds
    assert one(wanted | {"at_least": found.interval.low}, *MANY).holds


def test_too_few_runs_hold_nothing() -> None:
    found = one({"metric": "step_legal", "at_least": 0.1}, metrics(2, PASSED))
    assert (found.holds, found.reason) == (
        False,
        "its runs are too few, or too much alike, for an interval",
    )
    found = one({"metric": "pass^1", "at_least": 0.1, "runs": 41}, *MANY)
    assert found.reason == "40 runs count for it, where 41 are wanted"
    found = one({"metric": "cost.p95", "at_most": 9}, *MANY)
    assert found.reason == "there is nothing to measure: 0 of 0"
    found = one({"metric": "pass^1", "at_least": 0, "agent": "other"}, *MANY)
    assert (found.holds, found.reason) == (False, "No run is of agent other; agents are: mine.")


@pytest.mark.parametrize(
    "condition",
    [
        {"metric": "pass@1", "at_least": 0.7},
        {"metric": "step_legal", "at_least": 0.85},
        {"metric": "seconds.p95", "at_most": 40},
        {"metric": "seconds.p50", "at_most": 20, "by": "estimate"},
        {"metric": "crashed", "at_most": 0.2},
        {"metric": "errors", "at_most": 0.2},
        {"metric": "invalid", "at_most": 0.2},
    ],
)
def test_rates_tails_and_shares_can_be_asked_for(condition: dict[str, object]) -> None:
    found = one(condition, *MANY)
    assert (found.holds, found.reason) == (True, "")


def test_a_slice_is_by_agent_and_by_the_dimensions_of_reports() -> None:
    runs = [
        metrics(1, PASSED, task="a/b+stale-record.3@7"),
        metrics(2, FAILED, task="a/b+stale-record.3+width.1", mode="raw"),
        metrics(3, FAILED, task="c/d", facet="hooks_policy", tags={"build": "2026-11-25"}),
        metrics(4, FAILED, agent="other"),
    ]

    def counted(**condition: object) -> list[tuple[str, int]]:
        gate = Gate(
            conditions=(Condition.model_validate({"metric": "pass^1", "at_least": 0, **condition}),)
        )
        return [(found.agent, found.runs) for found in judge(gate, runs)]

    assert counted() == [("mine", 3), ("other", 1)]
    assert counted(operator="stale-record.*") == [("mine", 2)]
    assert counted(operator="width.*", agent="m*") == [("mine", 1)]
    assert counted(facet="hooks_policy") == [("mine", 1)]
    assert counted(task="c/*") == [("mine", 1)]
    assert counted(mode="raw") == [("mine", 1)]
    assert counted(category="unknown", operator="width.*") == [("mine", 1)]
    assert counted(tags={"build": "2026-*"}) == [("mine", 1)]
    assert counted(level="unknown", family="r/*", agent="other") == [("other", 1)]
    assert counted(level="L[1-7]") == [("", 0)]
    pin = next(each for each in suite.read(STANDARD).variants if each.level == "L3")
    runs.append(metrics(5, PASSED, task=pin.variant))
    assert counted(level="L[1-7]") == counted(level="L3", category="[!u]*") == [("mine", 1)]


def test_an_agent_with_brackets_is_named_by_its_name() -> None:
    runs = [metrics(number, PASSED, agent="a [at most 2 turns]") for number in (1, 2)]
    found = one({"metric": "pass^1", "at_least": 0, "agent": "a [at most 2 turns]"}, *runs)
    assert (found.holds, found.runs) == (True, 2)


def test_what_counts_for_no_rate_is_told_beside_it() -> None:
    crashed = [metrics(number, FAILED, how="crashed") for number in range(50, 60)]
    assert one({"metric": "pass^1", "at_least": 0}, *MANY, *crashed).left_out == 10
    assert one({"metric": "crashed", "at_most": 1}, *MANY, *crashed).left_out == 0


def test_unknown_metrics_are_refused_together_each_with_the_nearest() -> None:
    conditions = tuple(
        {"metric": each, "at_least": 0.5} for each in ("step_legl", "pass@1", "silent_wrong_acton")
    )
    with pytest.raises(UsageError) as refused:
        judge(Gate.model_validate({"conditions": conditions}), [metrics(1, Verdict.PASSED)])
    first, second = refused.value.message.splitlines()
    assert first.startswith("Condition 1: there is no metric 'step_legl'. Near it are: step_legal")
    assert second.startswith("Condition 3: there is no metric 'silent_wrong_acton'.")


def test_the_example_of_the_page_is_understood() -> None:
    text = (ROOT / "docs" / "gates.md").read_text().split("```yaml\n")[1].split("```")[0]
    gate = documents.parse(text, Path("gates.md"), Gate)
    found = judge(gate, [run.model_copy(update={"agent": "python3 agent.py"}) for run in MANY])
    assert [each.condition for each in found] == [1, 2, 3, 4, 5, 6]


@pytest.mark.slow
@given(st.lists(st.booleans(), min_size=2, max_size=12), st.floats(0, 1), st.floats(0, 1))
def test_whoever_reaches_a_threshold_reaches_a_lower_one(
    passed: list[bool], lower: float, higher: float
) -> None:
    lower, higher = sorted((lower, higher))
    runs = [metrics(number, PASSED if each else FAILED) for number, each in enumerate(passed)]
    reached = [one({"metric": "pass^1", "at_least": each}, *runs) for each in (lower, higher)]
    assert reached[0].holds >= reached[1].holds
    assert reached[0].value == pytest.approx(sum(passed) / len(passed))


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("{metric: pass^1, at_most: 1}", 0, "ok      1. pass^1 at most 1, mine: 0.500"),
        ("{metric: pass^1, at_least: 0.9}", 1, "failed  1. pass^1 at least 0.9, mine: 0.500"),
        ("{metric: pass^9, at_least: 0.9}", 1, "k is 9"),
        ("{metric: pass^1}", 2, "conditions[0]: give one of `at_least` and `at_most`"),
        ("{metric: pass^99999999, at_least: 0.9}", 2, "is not the name of a metric"),
        ("{metric: pass^1, at_least: 0, at_leest: 1}", 2, "at_leest: unknown key"),
    ],
)
def test_a_file_of_conditions_is_judged_on_the_command_line(
    tmp_path: Path, text: str, code: int, said: str
) -> None:
    store = Store(tmp_path / "runs")
    stored_run(store, "00000001-task", verdict=PASSED)
    stored_run(store, "00000002-task", verdict=FAILED)
    file = tmp_path / "gate.yaml"
    file.write_text(f"conditions:\n  - {text}\n")
    found = CliRunner().invoke(application(), ["gate", str(file), "--runs", str(store.root)])
    assert (found.exit_code, said in found.output) == (code, True), found.output
