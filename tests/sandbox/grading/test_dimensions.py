"""Dimensions of reports: each run stands under all values that it has."""

import pytest

from sandbox.grading import dimensions, reports
from sandbox.model import places
from sandbox.model.errors import UsageError
from sandbox.model.verdict import Verdict
from sandbox.tasks.plans import operators
from sandbox.tasks.suites import suite
from sandbox.tasks.suites.categories import categories, category
from tests.sandbox.grading.test_gate import metrics


def test_a_variant_stands_under_each_of_its_operators_and_at_its_level() -> None:
    pin = suite.read(places.project() / "suites" / "standard.yaml").variants[-1]
    run = metrics(1, Verdict.PASSED, task=pin.variant, facet=pin.facet)
    assert dimensions.values(run, "level") == (pin.level,)
    assert set(dimensions.values(run, "operator")) == set(
        pin.variant.partition("@")[0].split("+")[1:]
    )
    versioned = metrics(1, Verdict.PASSED, task="a/b+flood.2@7 (0123abcd)")
    assert dimensions.values(versioned, "operator") == ["flood.2"]


def test_slices_add_up_and_tell_why() -> None:
    runs = [
        metrics(1, Verdict.PASSED, label="mine", mode="raw", tags={"branch": "x"}),
        metrics(2, Verdict.FAILED, label="mine", mode="minimal", agent="mine [minimal]", cause="c"),
        metrics(3, Verdict.FAILED, label="mine", mode="raw", cause="tests"),
    ]
    found = reports.report(runs, by=("mode", "tag:branch", "cause"))
    told = [(each.value, each.agent, each.passed, each.graded) for each in found.slices]
    assert told == [
        ("minimal", "mine", 0, 1),
        ("raw", "mine", 1, 2),
        ("unknown", "mine", 0, 1),
        ("unknown", "mine [minimal]", 0, 1),
        ("x", "mine", 1, 1),
        ("c", "mine [minimal]", 0, 1),
        ("tests", "mine", 0, 1),
    ]
    assert found.agents[0].causes == {"tests": 1}


def test_an_unknown_dimension_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="no dimension 'facett'") as refused:
        reports.report([metrics(1, Verdict.PASSED)], by=("facett",))
    assert refused.value.next_step == "Did you mean facet?"


def test_every_operator_is_of_a_category_and_shares_are_a_whole() -> None:
    named = [name for kind in categories().values() for name in kind.names]
    assert {each.name for each in operators.OPERATORS} <= set(named)
    assert sum(kind.share for kind in categories().values()) == 1
    assert category(["flood.2", "stop-condition.3"], []) == "recovery"
    assert category(["flood.2"], ["python"]) == "edge"
    assert category([], ["python"]) == "happy path"
