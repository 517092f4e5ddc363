"""Graphs with rules, for tests: one from a file, and any number of generated ones."""

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from sandbox.model.base import Record
from sandbox.model.documents import load
from sandbox.model.graph import Graph
from sandbox.model.rule import Never, Precedes, Required, Rule
from sandbox.rules.checker.check import check_graph
from sandbox.rules.checker.findings import Report

WHY = {"reason": "It matters.", "stated_in": "prompt"}


class Case(Record):
    """A graph and the rules that hold in it."""

    graph: Graph
    rules: tuple[Rule, ...] = ()

    def report(self, bound: int = 100_000) -> Report:
        return check_graph("case", self.graph, self.rules, (), bound)

    def without(self, *ids: str) -> "Case":
        """The same without some edges."""
        data = self.graph.model_dump(mode="json")
        data["edges"] = [edge for edge in data["edges"] if edge["id"] not in ids]
        return self.model_copy(update={"graph": graph(data)})


def classic(*more: Rule) -> Case:
    case = load(Path(__file__).with_name("classic.yaml"), Case)
    return case.model_copy(update={"rules": (*case.rules, *more)})


def graph(data: dict[str, Any]) -> Graph:
    return Graph.model_validate_json(json.dumps(data))


def rule(template: str, **fields: object) -> Rule:
    kinds: dict[str, Any] = {"never": Never, "precedes": Precedes, "required": Required}
    made: Rule = kinds[template](template=template, **{"id": template, **WHY, **fields})
    return made


NAMES = ("a", "b", "c", "d")
ACTIONS = ("read_file", "run_tests", "write_file")


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any small graph with a variable, and a few rules over what its edges do."""
    flags = st.sampled_from([{}, {"v": 0}, {"v": 1}])
    edges = [
        {
            "id": f"e{number}",
            "from": draw(st.sampled_from(NAMES)),
            "to": draw(st.sampled_from(NAMES)),
            "when": draw(flags),
            "sets": draw(flags),
            "milestone": draw(st.sampled_from([None, "m", "n"])),
            "does": [
                {"action": draw(st.sampled_from(ACTIONS)), "result": {"n": draw(st.integers(0, 1))}}
            ],
        }
        for number in range(draw(st.integers(1, 8)))
    ]
    edges += [
        {"id": f"end{number}", "from": origin, "to": "end", "ends": "answer"}
        for number, origin in enumerate(draw(st.lists(st.sampled_from(NAMES), max_size=3)))
    ]
    right = draw(st.sampled_from([True, False, {"v": 1}]))
    states: dict[str, Any] = {name: {} for name in NAMES} | {"end": {"right": right}}
    data = {"start": "a", "variables": {"v": [0, 1]}, "states": states, "edges": edges}
    atoms = st.fixed_dictionaries({"action": st.sampled_from(ACTIONS)})
    rules = [
        rule("never", a={"action": draw(st.sampled_from(ACTIONS)), "result": {"n": 1}}),
        rule("precedes", a=draw(atoms), b=draw(atoms)),
        rule("required", a=draw(atoms)),
    ]
    chosen = draw(st.lists(st.sampled_from(rules), unique_by=lambda each: each.id))
    return Case(graph=graph(data), rules=tuple(chosen))
