"""A world graph as SVG: what is accepted, what leads astray and what is forbidden, told apart."""

from collections.abc import Iterator, Mapping, Sequence, Set
from html import escape
from itertools import pairwise

from sandbox.model.graph import Edge, Graph
from sandbox.rules.checker.findings import Report
from sandbox.rules.checker.layout import Box, Layout, Line, layout
from sandbox.rules.checker.style import SHORTEST, STYLES, Style, note, style_of
from sandbox.rules.checker.walk import Step, Walk

SPACE = "http://www.w3.org/2000/svg"
FONT, BOLD = 'font-family="Helvetica, Arial, sans-serif"', 'font-weight="bold"'
MARGIN = 24.0
TALL, HEAD, CLEAR = 38.0, 11.0, 9.0
"""Height of a box, length of the head of an arrow, how far from a box a line may turn."""
TOP = 104.0
"""Room for title and legend."""
LETTER, SMALL = 7.4, 6.2
"""Mean widths of a letter, generously, at 12 and 10 pixels."""


WALKED, BROKEN = "#1d4ed8", "#b3201b"
BAND = f'fill="none" stroke="{WALKED}" stroke-width="15" stroke-opacity="0.4"'
"""How a run's way lies below the lines that it took."""


def svg(graph: Graph, report: Report, walk: Walk | None = None) -> str:
    """Draw a graph, and in it what a run has reached and broken."""
    main = report.shortest or ()
    notes = {edge.id: note(edge, report) for edge in graph.edges}
    placed = layout(graph, main, _widths(graph, notes))
    steps = walk.steps(graph) if walk else frozenset[Step]()
    legend = (SHORTEST, *STYLES.values())
    width = max(
        MARGIN * 2 + max((box.x + box.width / 2 for box in placed.boxes), default=0),
        MARGIN * 2 + sum(_legend_width(style) for style in legend),
    )
    height = MARGIN + TOP + TALL + max((box.y for box in placed.boxes), default=0)
    parts = [
        f'<svg xmlns="{SPACE}" width="{width:.0f}" height="{height:.0f}" {FONT} font-size="12">',
        f"<title>{escape(report.task)}</title>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        f"<defs>{''.join(_head(style) for style in legend)}</defs>",
        f'<text x="{MARGIN:g}" y="28" font-size="15" {BOLD}>{escape(report.task)}</text>',
        *_legend(legend),
        f'<g transform="translate({MARGIN:g} {TOP:g})">',
        *_band(placed, steps),
        *_drawn(placed, graph, report, notes),
        *(_marked(placed, report, walk, walk.numbers(graph, steps)) if walk else ()),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _widths(graph: Graph, notes: dict[str, str]) -> dict[str, float]:
    def width(name: str, small: str) -> float:
        return max(len(name) * LETTER, len(small) * SMALL) + 20

    found = {f"state {name}": width(name, state.says) for name, state in graph.states.items()}
    found |= {f"edge {edge.id}": width(edge.id, notes[edge.id]) for edge in graph.edges}
    return found


def _head(style: Style) -> str:
    """The head of an arrow, of one size for lines of any width."""
    return (
        f'<marker id="{_head_name(style)}" viewBox="0 0 10 10" refX="9" refY="5"'
        f' markerWidth="{HEAD:g}" markerHeight="{HEAD:g}" markerUnits="userSpaceOnUse"'
        ' orient="auto">'
        f'<path d="M0 0 L10 5 L0 10 z" fill="{style.colour}"/></marker>'
    )


def _head_name(style: Style) -> str:
    return f"head-{style.colour[1:]}-{style.width * 10:.0f}"


def _stroke(style: Style) -> str:
    dash = f' stroke-dasharray="{style.dash}"' if style.dash else ""
    return f'fill="none" stroke="{style.colour}" stroke-width="{style.width:g}"{dash}'


def _legend_width(style: Style) -> float:
    return 52 + len(style.meaning) * SMALL + 18


def _legend(styles: Sequence[Style]) -> Iterator[str]:
    x = MARGIN
    for style in styles:
        yield (
            f'<path d="M{x:g} 52 H{x + 42:g}" {_stroke(style)}'
            f' marker-end="url(#{_head_name(style)})"/>'
            f'<text x="{x + 50:g}" y="56" font-size="11">{escape(style.meaning)}</text>'
        )
        x += _legend_width(style)


def _drawn(placed: Layout, graph: Graph, report: Report, notes: dict[str, str]) -> Iterator[str]:
    for line in sorted(placed.lines, key=lambda line: line.edge.id in (report.shortest or ())):
        yield _drawn_line(line, style_of(line.edge, report))
    for box in placed.boxes:
        if box.state is not None:
            yield _state(box, graph)
        elif box.edge is not None and box.key.startswith("edge "):
            yield _name(box, box.edge, notes[box.edge.id], style_of(box.edge, report))


def _band(placed: Layout, steps: Set[Step]) -> Iterator[str]:
    """A broad line below those of the edges that were taken, each from where it was."""
    edges = {edge for edge, _ in steps}
    for line in placed.lines:
        state = line.boxes[0].state
        if line.edge.id in edges if state is None else (line.edge.id, state) in steps:
            yield f'<path class="walked" d="{_course(line)}" {BAND}/>'


def _marked(
    placed: Layout, report: Report, walk: Walk, numbers: Mapping[str, int]
) -> Iterator[str]:
    """A number where a milestone was reached, a cross where a rule may have been broken."""
    for box in placed.boxes:
        edge = box.edge
        if edge is None or not box.key.startswith("edge "):
            continue
        if edge.id in numbers:
            yield _badge(box, str(numbers[edge.id]), WALKED)
        elif walk.broken & set(report.breaks.get(edge.id, ())):
            yield _badge(box, "\u00d7", BROKEN)


def _badge(box: Box, sign: str, colour: str) -> str:
    x, y = box.x - box.width / 2 - 2, box.y - TALL / 4
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="10" fill="{colour}"/>'
        f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" {BOLD} fill="#ffffff">'
        f"{sign}</text>"
    )


def _drawn_line(line: Line, style: Style) -> str:
    head = f' marker-end="url(#{_head_name(style)})"' if line.headed else ""
    return f'<path d="{_course(line)}" {_stroke(style)}{head}/>'


def _course(line: Line) -> str:
    """A line that leaves and enters boxes at their edges, upright, and turns between rows."""
    first, last = line.boxes[0], line.boxes[-1]
    sense = 1 if last.row > first.row else -1
    xs = [line.starts, *(box.x for box in line.boxes[1:-1]), line.ends]
    path = f"M{line.starts:.1f} {first.y + sense * TALL / 2:.1f}"
    for place, (one, other) in enumerate(pairwise(line.boxes)):
        top, bottom = one.y + sense * TALL / 2, other.y - sense * TALL / 2
        closing = place == len(line.boxes) - 2
        part = _lane(line, opening=place == 0, closing=closing)
        height = top + sense * CLEAR + part * (bottom - top - 2 * sense * CLEAR)
        path += _turn(xs[place], xs[place + 1], height, sense)
        path += f" V{bottom + sense * (0 if closing else TALL):.1f}"
    return path


def _lane(line: Line, *, opening: bool, closing: bool) -> float:
    """Where between two rows a line turns: as the box with the greater crowd wants it."""
    if opening and (not closing or line.crowds[0] >= line.crowds[1]):
        return line.lanes[0]
    return 1 - line.lanes[1] if closing else 0.5


def _turn(x1: float, x2: float, y: float, sense: int) -> str:
    """Go along x at a height, with round corners."""
    radius = min(6.0, abs(x2 - x1) / 2)
    if radius < 0.5:
        return ""
    aside = radius if x2 > x1 else -radius
    return (
        f" V{y - sense * radius:.1f} Q{x1:.1f} {y:.1f} {x1 + aside:.1f} {y:.1f} H{x2 - aside:.1f}"
        f" Q{x2:.1f} {y:.1f} {x2:.1f} {y + sense * radius:.1f}"
    )


def _state(box: Box, graph: Graph) -> str:
    name = box.state or ""
    state = graph.states[name]
    ends = state.right is not None
    fill = "#eef2f7" if not ends else "#fbe9e7" if state.right is False else "#e3f3e8"
    outline = 3 if name == graph.start or ends else 1.4
    return (
        f'<rect x="{box.x - box.width / 2:.1f}" y="{box.y - TALL / 2:.1f}"'
        f' width="{box.width:.1f}" height="{TALL:g}" rx="10" fill="{fill}"'
        f' stroke="#334155" stroke-width="{outline:g}"/>'
        + _words(box, name, state.says, "#0f172a", "#475569")
    )


def _name(box: Box, edge: Edge, small: str, style: Style) -> str:
    high = TALL if small else TALL / 2
    return (
        f'<rect x="{box.x - box.width / 2 + 4:.1f}" y="{box.y - high / 2:.1f}"'
        f' width="{box.width - 8:.1f}" height="{high:g}" fill="#ffffff" fill-opacity="0.92"/>'
        + _words(box, edge.id, small, style.colour, style.colour)
    )


def _words(box: Box, name: str, small: str, colour: str, faint: str) -> str:
    up = -3 if small else 4
    text = (
        f'<text x="{box.x:.1f}" y="{box.y + up:.1f}" text-anchor="middle" font-weight="bold"'
        f' fill="{colour}">{escape(name)}</text>'
    )
    if small:
        text += (
            f'<text x="{box.x:.1f}" y="{box.y + 12:.1f}" text-anchor="middle" font-size="10"'
            f' fill="{faint}">{escape(small)}</text>'
        )
    return text
