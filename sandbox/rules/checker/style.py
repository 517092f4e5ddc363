"""How edges are drawn and what is written beside them."""

from dataclasses import dataclass

from sandbox.model.graph import Edge, choices
from sandbox.rules.checker.findings import Mark, Report


@dataclass(frozen=True, slots=True)
class Style:
    """How an edge is drawn."""

    colour: str
    dash: str
    width: float
    meaning: str


STYLES: dict[Mark, Style] = {
    "accepted": Style("#176d3b", "", 1.6, "on an accepted path"),
    "trap": Style("#a35b00", "9 4", 1.6, "leads astray: the outcome cannot be right"),
    "forbidden": Style("#b3201b", "2 4", 2.0, "forbidden: breaks a rule"),
    "idle": Style("#6b7280", "5 5 1 5", 1.2, "changes nothing"),
}
"""Colour-blind readers have the dashes."""
SHORTEST = Style("#176d3b", "", 3.6, "the shortest accepted path")


def style_of(edge: Edge, report: Report) -> Style:
    """How an edge is drawn."""
    return SHORTEST if edge.id in (report.shortest or ()) else STYLES[report.marks[edge.id]]


def note(edge: Edge, report: Report) -> str:
    """Say in a few words what is special about an edge."""
    breaks = "breaks" if report.marks[edge.id] == "forbidden" else "elsewhere breaks"
    broken = report.breaks.get(edge.id, ())
    words = [f"{breaks} {', '.join(broken)}"] if broken else []
    words += [f"reaches {edge.milestone}"] if edge.milestone and not words else []
    words += [edge.kind] if edge.kind in ("retry", "fallback") else []
    words += [f"if {_condition(edge)}"] if edge.when else []
    words += [f"sets {_assigned(edge)}"] if edge.sets else []
    return "; ".join(words)


def _condition(edge: Edge) -> str:
    parts = []
    for name, wanted in edge.when.items():
        parts.append(f"{name} = {' or '.join(map(_value, choices(wanted)))}")
    return ", ".join(parts)


def _assigned(edge: Edge) -> str:
    return ", ".join(f"{name} = {_value(value)}" for name, value in edge.sets.items())


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
