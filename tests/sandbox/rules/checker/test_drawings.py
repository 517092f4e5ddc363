"""Drawings are well-formed, show everything, and do not lay one thing over another."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given, settings

from sandbox.model.graph import Graph
from sandbox.rules.checker.check import check, graph_of
from sandbox.rules.checker.findings import Report
from sandbox.rules.checker.layout import layout
from sandbox.rules.checker.mermaid import mermaid
from sandbox.rules.checker.style import STYLES
from sandbox.rules.checker.svg import svg
from sandbox.tasks import library
from tests.sandbox.rules.checker.worlds import Case, cases, classic, graph

SVG = "{http://www.w3.org/2000/svg}"


def drawings() -> list[tuple[Graph, Report]]:
    loaded = [library.load(name).task for name in library.names()]
    found = [(graph_of(task), check(task)) for task in loaded]
    return [*found, (classic().graph, classic().report())]


def texts(drawn: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(drawn).iter(f"{SVG}text")]


@pytest.mark.parametrize(("world", "report"), drawings())
def test_states_edges_and_a_legend_are_drawn(world: Graph, report: Report) -> None:
    words = texts(svg(world, report))
    assert set(words) >= {*world.states, *(edge.id for edge in world.edges)}
    assert set(words) >= {style.meaning for style in STYLES.values()}
    text = mermaid(world, report)
    arrows = sum(len(edge.origins) for edge in world.edges) + len(STYLES) + 1
    assert len(re.findall("-->", text)) == text.count("linkStyle") == arrows


def test_kinds_of_edges_differ_in_colour_and_dash() -> None:
    task = library.load("humanize/file-sizes").task
    drawn = svg(graph_of(task), check(task))
    for mark in ("accepted", "trap", "forbidden"):
        assert drawn.count(f'stroke="{STYLES[mark].colour}"') > 1
    dashes = {style.dash for style in STYLES.values()}
    assert len(dashes) == len({style.colour for style in STYLES.values()}) == len(STYLES)
    assert "breaks nothing-pushed" in texts(drawn)


def test_words_of_a_task_do_not_become_markup() -> None:
    data = classic().graph.model_dump(mode="json")
    data["states"]["clean"]["says"] = '"<script>&'
    case = Case(graph=graph(data))
    assert '"<script>&' in texts(svg(case.graph, case.report()))
    assert "<script>" not in mermaid(case.graph, case.report())


@pytest.mark.slow
@settings(deadline=None)
@given(cases())
def test_no_box_lies_on_another(case: Case) -> None:
    report = case.report()
    widths = {f"state {name}": 80.0 for name in case.graph.states}
    widths |= {f"edge {edge.id}": 60.0 for edge in case.graph.edges}
    placed = layout(case.graph, report.shortest or (), widths)
    rows: dict[int, list[tuple[float, float]]] = {}
    for box in placed.boxes:
        rows.setdefault(box.row, []).append((box.x - box.width / 2, box.x + box.width / 2))
    for spans in rows.values():
        spans.sort()
        for (_, right), (left, _) in pairwise(spans):
            assert left >= right
    drawn = {box.state for box in placed.boxes if box.state}
    assert drawn == set(case.graph.states)
    ET.fromstring(svg(case.graph, report))
