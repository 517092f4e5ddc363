import json
from typing import Any

import pytest
from pydantic import ValidationError

from sandbox.model.graph import Graph


def data() -> dict[str, Any]:
    return {
        "start": "a",
        "variables": {"v": [False, True]},
        "states": {"a": {}, "b": {}, "end": {"right": {"v": True}}},
        "edges": [
            {"id": "go", "from": ["a", "b"], "to": "b", "sets": {"v": True}},
            {"id": "stay", "from": "b", "when": {"v": [False, True]}},
            {"id": "answer", "from": "b", "to": "end", "ends": "answer"},
        ],
    }


def read(value: dict[str, Any]) -> Graph:
    return Graph.model_validate_json(json.dumps(value))


def test_what_is_read_is_written_again() -> None:
    graph = read(data())
    assert Graph.model_validate_json(graph.model_dump_json()) == graph
    assert [edge.origins for edge in graph.edges] == [("a", "b"), ("b",), ("b",)]


@pytest.mark.parametrize(
    ("edge", "fields", "problem"),
    [
        (0, {"to": "c"}, "edge go: there is no state c"),
        (0, {"from": "c"}, "edge go: there is no state c"),
        (0, {"from": "end"}, "edge go leaves end, where a run is over"),
        (0, {"to": "end"}, "edge go leads to an end, but does not say `ends`"),
        (0, {"ends": "stop"}, "edge go ends, but b does not say `right`"),
        (0, {"sets": {"v": 1}}, "edge go: v is never 1"),
        (0, {"sets": {"w": True}}, "edge go: there is no variable w"),
        (1, {"when": {"v": "yes"}}, "edge stay: v is never 'yes'"),
        (1, {"id": "go"}, "edge go occurs twice"),
        (0, {"does": [{"oracle": 1, "action": "git_diff"}]}, "give one of"),
        (0, {"does": [{}]}, "give one of"),
        (0, {"does": [{"oracle": 1, "arguments": {"a": 1}}]}, "those of the oracle are its own"),
        (0, {"does": [{"oracle": [1, 2], "result": {"a": 1}}]}, "with a single action"),
        (0, {"does": [{"event": "exec", "changes": ["a"]}]}, "with a single action"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    edge: int, fields: dict[str, Any], problem: str
) -> None:
    value = data()
    value["edges"][edge].update(fields)
    with pytest.raises(ValidationError, match=problem):
        read(value)


def test_the_start_and_the_ends_are_checked() -> None:
    with pytest.raises(ValidationError, match="there is no state z"):
        read(data() | {"start": "z"})
    with pytest.raises(ValidationError, match="variable w has no value"):
        read(data() | {"variables": {"v": [False, True], "w": []}})
    with pytest.raises(ValidationError, match="variable w has a value twice"):
        read(data() | {"variables": {"v": [False, True], "w": [1, True]}})
