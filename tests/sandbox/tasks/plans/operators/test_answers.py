"""Whoever answers before something was come by does not know it."""

import pytest
from pydantic import JsonValue

from sandbox.model.graph import Edge
from sandbox.rules.checker.check import graph_of
from sandbox.tasks import library
from sandbox.tasks.plans.operators.answers import NOT_KNOWN

FIELDS = {"sealed-letter": "contract", "leftovers": "estimate"}
"""By an operator: what its chore at the end tells."""


def answered(edge: Edge, field: str) -> list[JsonValue]:
    found = (deed.arguments.get("fields") for deed in edge.does if deed.action == "final_answer")
    return [fields.get(field) for fields in found if isinstance(fields, dict)]


@pytest.mark.parametrize("operator", FIELDS)
@pytest.mark.parametrize(
    "name",
    [
        "qs/guard-once+change-desk.2",
        "django/negative-durations+change-desk.4+missing-argument.3+change-of-mind.4",
        "humanize/file-sizes+change-desk.3+denied-approval.3",
    ],
)
def test_ways_that_answer_before_a_chore_do_not_know_what_it_tells(
    name: str, operator: str
) -> None:
    task = library.load(f"{name}+{operator}.3").task
    field = FIELDS[operator]
    before = {
        edge.id: answered(edge, field)
        for edge in graph_of(task).edges
        if edge.ends == "answer" and not edge.when and answered(edge, field)
    }
    told = task.final[field].expect
    known = {each for each, values in before.items() if told in values}
    assert f"{operator}-left" not in known
    assert {each for each in known if "close" in each or each.startswith("answer-un")} == set()
    assert [NOT_KNOWN] in before.values()
