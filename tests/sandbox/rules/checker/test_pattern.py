"""A pattern is the same exactly where a graph is."""

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.model.graph import Graph
from sandbox.rules.checker.pattern import pattern
from sandbox.rules.checker.world import World
from tests.sandbox.rules.checker.worlds import classic, graph


def digest(of: Graph) -> str:
    found = pattern(World(of))
    assert found.exact
    return found.digest


def drawn(arcs: list[tuple[int, int]], count: int) -> Graph:
    """A graph without labels, every state of which can be reached and ends nothing."""
    states: dict[str, Any] = {f"s{number}": {} for number in range(count)} | {"start": {}}
    edges = [{"id": f"in{number}", "from": "start", "to": f"s{number}"} for number in range(count)]
    edges += [
        {"id": f"e{number}", "from": f"s{one}", "to": f"s{other}"}
        for number, (one, other) in enumerate(arcs)
    ]
    return graph({"start": "start", "states": states, "edges": edges})


ARCS = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=7)


@settings(max_examples=60, deadline=None)
@given(ARCS, ARCS)
def test_two_graphs_share_a_pattern_exactly_where_one_is_the_other(
    one: set[tuple[int, int]], other: set[tuple[int, int]]
) -> None:
    same = any(
        {(order[source], order[target]) for source, target in one} == other
        for order in permutations(range(4))
    )
    assert (digest(drawn(sorted(one), 4)) == digest(drawn(sorted(other), 4))) is same


def test_what_refinement_cannot_tell_apart_is_told_apart() -> None:
    hexagon = [(number, (number + 1) % 6) for number in range(6)]
    triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    assert digest(drawn(hexagon, 6)) != digest(drawn(triangles, 6))


def test_states_in_any_order_are_tried_once_each() -> None:
    pairs = [(number, number + 4) for number in range(4)]
    others = [(0, 4), (0, 5), (1, 6), (1, 7)]
    assert digest(drawn(pairs, 8)) == digest(drawn([(to, of) for of, to in pairs], 8))
    assert digest(drawn(pairs, 8)) != digest(drawn(others, 8))
    assert digest(drawn([], 8)) != digest(drawn(pairs, 8))


def test_symmetry_without_end_is_admitted() -> None:
    assert not pattern(World(drawn([], 20))).exact


def changed(edge: str, **fields: object) -> Graph:
    data = classic().graph.model_dump(mode="json")
    for each in data["edges"]:
        if each["id"] == edge:
            each.update(fields)
    return graph(data)


@pytest.mark.parametrize(
    ("fields", "same"),
    [
        ({"id": "run-tests"}, True),
        ({"does": [{"action": "run_tests", "arguments": {"command": "pytest"}}]}, True),
        ({"milestone": "verified"}, True),
        ({"milestone": None}, False),
        ({"kind": "retry"}, False),
        ({"does": [{"action": "run_tests", "error_code": "timeout"}]}, False),
        ({"does": [{"action": "run_command", "arguments": {"command": "npm test"}}]}, False),
        ({"when": {}}, False),
    ],
)
def test_a_pattern_is_more_than_words(fields: dict[str, Any], same: bool) -> None:
    assert (digest(changed("test", **fields)) == digest(classic().graph)) is same
