"""What a run shows of the edges of its world graph: which of them it cannot have taken."""

from collections.abc import Iterable, Set
from typing import Any

from pydantic import JsonValue

from sandbox.model.event import Entry
from sandbox.model.graph import Deed, Graph
from sandbox.rules.checker.findings import Report

LOST = {"execs_lost", "facts_lost", "requests_lost"}
"""Events that say that there were more than were recorded."""


def untaken(
    graph: Graph,
    report: Report,
    entries: Iterable[Entry],
    broken: Set[str],
    *,
    right: bool | None,
) -> frozenset[str]:
    """Name the edges whose events have not happened, whose rules are whole, or that lead astray.

    `right` is whether tests, collateral and final answer passed, None where that is not known.
    """
    events: dict[str, list[dict[str, Any]]] = {}
    codes = set()
    for entry in entries:
        events.setdefault(entry.event.kind, []).append(dict(entry.event))
        if entry.event.kind == "observation":
            codes.add(entry.event.observation.error_code)

    blind = bool(LOST & events.keys())

    def happened(deed: Deed) -> bool:
        if deed.event is not None:
            return blind or any(
                _is_like(deed.arguments, each) for each in events.get(deed.event, ())
            )
        return deed.error_code is None or deed.error_code in codes

    found = set()
    for edge in graph.edges:
        mark = report.marks[edge.id]
        breaks = report.breaks.get(edge.id, ()) if mark == "forbidden" else ()
        ended = graph.states[edge.to].right if edge.ends and edge.to else None
        if (
            not all(map(happened, edge.does))
            or (breaks and not broken & set(breaks))
            or (right and mark == "trap")
            or (right is not None and isinstance(ended, bool) and ended is not right)
        ):
            found.add(edge.id)
    return frozenset(found)


def _is_like(wanted: dict[str, JsonValue], event: dict[str, Any]) -> bool:
    """Whether an event has the words and flags of one in a graph; numbers are of their run."""
    return all(
        event.get(name) == value for name, value in wanted.items() if isinstance(value, str | bool)
    )
