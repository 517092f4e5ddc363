"""A world graph as Mermaid text, for pages that draw it themselves."""

from sandbox.model.graph import Graph
from sandbox.rules.checker.findings import Report
from sandbox.rules.checker.style import SHORTEST, STYLES, Style, note, style_of


def mermaid(graph: Graph, report: Report) -> str:
    """Write a graph as a flow chart; the legend is a chart in it."""
    rows = ["flowchart TD"]
    numbers = {name: f"s{number}" for number, name in enumerate(graph.states)}
    for name, state in graph.states.items():
        opening, closing = ("([", "])") if state.right is not None else ("(", ")")
        says = f"<br/><small>{_quoted(state.says)}</small>" if state.says else ""
        rows.append(f'  {numbers[name]}{opening}"<b>{_quoted(name)}</b>{says}"{closing}')
    drawn: list[Style] = []
    for edge in graph.edges:
        style = style_of(edge, report)
        small = note(edge, report)
        label = _quoted(edge.id) + (f"<br/><small>{_quoted(small)}</small>" if small else "")
        for origin in edge.origins:
            rows.append(f'  {numbers[origin]} -->|"{label}"| {numbers[edge.to or origin]}')
            drawn.append(style)
    rows.append("  subgraph legend")
    for number, style in enumerate((SHORTEST, *STYLES.values())):
        rows.append(f'    l{number}[" "] -->|"{style.meaning}"| r{number}[" "]')
        drawn.append(style)
    rows.append("  end")
    rows += [f"  linkStyle {number} {_css(style)}" for number, style in enumerate(drawn)]
    return "\n".join(rows) + "\n"


def _css(style: Style) -> str:
    dash = f",stroke-dasharray:{style.dash}" if style.dash else ""
    return f"stroke:{style.colour},stroke-width:{style.width:g}px,color:{style.colour}{dash}"


def _quoted(text: str) -> str:
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(sign, entity)
    return text
