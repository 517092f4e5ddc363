"""A run's way through its graph: what is certain is drawn, and nothing that it cannot have done."""

import re
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.model.event import Entry
from sandbox.rules.checker.check import check, check_graph, graph_of
from sandbox.rules.checker.evidence import untaken
from sandbox.rules.checker.svg import svg
from sandbox.rules.checker.walk import Step, Walk
from sandbox.tasks import library
from tests.sandbox.rules.checker.worlds import Case, cases, graph

FORK = graph(
    {
        "start": "a",
        "states": {"a": {}, "b": {}, "c": {}, "d": {}, "end": {"right": True}},
        "edges": [
            {"id": "slow", "from": "a", "to": "b"},
            {"id": "wrong", "from": "a", "to": "c", "kind": "trap", "milestone": "m"},
            {"id": "one", "from": "b", "to": "c", "milestone": "m"},
            {"id": "other", "from": "d", "to": "c", "milestone": "m"},
            {"id": "two", "from": "c", "to": "d", "milestone": "n"},
            {"id": "back", "from": ["c", "d"], "to": "d"},
            {"id": "answer", "from": "d", "to": "end", "ends": "answer"},
        ],
    }
)


def way(*reached: str, ends: bool = False, untaken: tuple[str, ...] = ("wrong",)) -> set[Step]:
    walk = Walk(reached, ends="answer" if ends else None, untaken=frozenset(untaken))
    return set(walk.steps(FORK))


BEGUN = {("slow", "a"), ("one", "b")}


def test_steps_on_every_way_that_explains_the_run_are_certain_and_no_others() -> None:
    assert way("m") == BEGUN
    assert way("m", "n", ends=True) == BEGUN | {("two", "c"), ("answer", "d")}
    assert way("m", ends=True) == BEGUN | {("back", "c"), ("answer", "d")}
    assert way("m", untaken=()) == set()
    assert way() == way(ends=True) == way("unheard-of") == set()


def test_an_order_that_the_graph_does_not_know_leaves_a_gap() -> None:
    assert way("n", "m", ends=True) == {("other", "d"), ("answer", "d")}


def test_a_number_stands_at_the_edge_that_was_taken_else_at_all_that_may_have_been() -> None:
    for never, first in (({"wrong"}, ["one"]), (set(), ["one", "other", "wrong"])):
        walk = Walk(("m", "n"), untaken=frozenset(never))
        numbers = walk.numbers(FORK, walk.steps(FORK))
        assert numbers == {**dict.fromkeys(first, 1), "two": 2}


@pytest.mark.parametrize("name", ["qs/guard-once", "inflection/last-word"])
def test_a_run_like_the_oracle_is_drawn_beside_the_shortest_accepted_path(name: str) -> None:
    task = library.load(name).task
    world, report = graph_of(task), check(task)
    by_name = {edge.id: edge for edge in world.edges}
    shortest = [by_name[each] for each in report.shortest or ()]
    entries = [entry(deed.arguments | {"kind": deed.event}) for edge in shortest
               for deed in edge.does if deed.event]  # fmt: skip
    never = untaken(world, report, entries, frozenset(), right=True)
    assert never
    assert not never & set(report.shortest or ())
    walk = Walk(tuple(each.milestone for each in shortest if each.milestone), ends="answer",
                untaken=never)  # fmt: skip
    assert {edge for edge, _ in walk.steps(world)} == set(report.shortest or ())
    drawn = svg(world, report, walk)
    bands = re.findall(r'<path class="walked" d="([^"]+)"', drawn)
    assert len(bands) == sum(1 + (by_name[edge].to is not None) for edge in report.shortest or ())
    assert all(f'<path d="{band}"' in drawn for band in bands)
    assert "walked" not in svg(world, report)


def entry(event: Mapping[str, object]) -> Entry:
    """An event with what a graph says of it, and no more."""
    return Entry.model_construct(event=_Event(event))


class _Event:
    def __init__(self, fields: Mapping[str, object]) -> None:
        self.kind, self._fields = fields["kind"], fields

    def __iter__(self) -> Iterator[tuple[str, object]]:
        return iter(self._fields.items())


def test_what_did_not_happen_or_would_have_broken_a_rule_was_not_taken() -> None:
    fork = FORK.model_dump(mode="json")
    fork["edges"][2]["does"] = [{"event": "exec", "arguments": {"path": "/bin/x", "number": 7}}]
    fork["edges"][4]["does"] = [{"action": "read_file", "error_code": "policy_denied"}]
    world = graph(fork)
    report = check_graph("case", world, (), (), 1000)

    def never(*events: dict[str, object], right: bool | None = None) -> frozenset[str]:
        return untaken(world, report, [entry(each) for each in events], frozenset(), right=right)

    assert never() == {"one", "two"}
    assert never({"kind": "exec", "path": "/bin/y"}) == {"one", "two"}
    assert never({"kind": "exec", "path": "/bin/x", "number": 8}) == {"two"}
    assert never({"kind": "facts_lost"}) == {"two"}, "it may be among what was not recorded"
    assert "answer" in never(right=False)


@given(cases(), st.permutations(["m", "n"]), st.booleans())
def test_each_certain_step_is_one_of_the_graph(case: Case, reached: list[str], ends: bool) -> None:
    found = {edge.id: edge for edge in case.graph.edges}
    walk = Walk(tuple(reached), ends="answer" if ends else None)
    steps = walk.steps(case.graph)
    for edge, origin in steps:
        assert origin in found[edge].origins
    assert set(walk.numbers(case.graph, steps).values()) <= {1, 2}
