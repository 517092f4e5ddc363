"""A layered layout: states in rows from the start downwards, each edge's name in a row between.

After Sugiyama: edges that lead back are turned round, rows follow the longest way from the start,
lines that pass a row get a place in it, and rows are ordered by where their neighbours are. The
main path is kept in the first column.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sandbox.model.graph import Edge, Graph

GAP, ROW = 26.0, 74.0
"""Pixels between neighbours in a row, and from row to row at least."""
ROOMY, LANE = 3, 6.0
"""Lines that turn between two rows without more room, and what each further one needs."""
SWEEPS = 8


@dataclass(slots=True)
class Box:
    """Something with a place: a state, the name of an edge, or where a line passes a row."""

    key: str
    row: int
    width: float
    x: float = 0.0
    """Of its middle, as y."""
    y: float = 0.0
    edge: Edge | None = None
    """Of an edge's name, or of a line that passes."""
    state: str | None = None


@dataclass(slots=True)
class Line:
    """A line through boxes, from the first to the last; the last has the head of an arrow."""

    edge: Edge
    boxes: list[Box]
    headed: bool
    starts: float = 0.0
    """Where on the first box's edge it begins, and on the last box's it ends."""
    ends: float = 0.0
    crowds: tuple[int, int] = (1, 1)
    """How many lines share the edge of the first box with it, and that of the last."""
    lanes: tuple[float, float] = (0.5, 0.5)
    """How far from each of the two boxes, in parts of the way to the next row, it turns."""


@dataclass(slots=True)
class Layout:
    """Boxes and lines."""

    boxes: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)


def layout(graph: Graph, main: Sequence[str], widths: dict[str, float]) -> Layout:
    """Place a graph; `main` are the edges of the main path, `widths` those of states and edges.

    Widths are known by `state <name>` and `edge <id>`.
    """
    rows = _rows(graph, main)
    made = Layout()
    states = {
        name: Box(f"state {name}", 2 * row, widths[f"state {name}"], state=name)
        for name, row in rows.items()
    }
    made.boxes += states.values()
    for edge in graph.edges:
        _place_edge(edge, states, widths[f"edge {edge.id}"], made)
    spine = _spine(graph, main, made)
    _order(made, spine)
    _dock(made, spine)
    _space(made)
    return made


def _spine(graph: Graph, main: Sequence[str], made: Layout) -> set[str]:
    """What stands in the first column: the main path, as far as it leads on downwards."""
    found = {f"state {graph.start}"}
    rows = {box.row for box in made.boxes if box.key in found}
    lines: dict[str, list[Line]] = defaultdict(list)
    for line in made.lines:
        lines[line.edge.id].append(line)
    for name in main:
        here = [line for line in lines[name] if line.boxes[0].key in found and not line.headed]
        on = [line for line in here if line.boxes[-1].row > line.boxes[0].row]
        for line in on[:1]:
            label = line.boxes[-1]
            (last,) = (each for each in lines[name] if each.headed and each.boxes[0] is label)
            column = {box.row: box.key for box in (*line.boxes[1:], *last.boxes[1:])}
            if last.boxes[-1].row > label.row and not rows.intersection(column):
                found.update(column.values())
                rows.update(column)
    return found


def _rows(graph: Graph, main: Sequence[str]) -> dict[str, int]:
    """Give each state its row: the longest way from the start, without what leads back."""
    leaving: dict[str, list[str]] = {name: [] for name in graph.states}
    for edge in sorted(graph.edges, key=lambda edge: edge.id not in main):
        for origin in edge.origins:
            if edge.to and edge.to != origin:
                leaving[origin].append(edge.to)
    rows: dict[str, int] = {}
    order: list[str] = []
    back: set[tuple[str, str]] = set()
    for root in (graph.start, *graph.states):
        _visit(root, leaving, order, back)
    for name in reversed(order):
        rows.setdefault(name, 0)
        for target in leaving[name]:
            if (name, target) not in back:
                rows[target] = max(rows.get(target, 0), rows[name] + 1)
    return rows


def _visit(
    root: str, leaving: dict[str, list[str]], order: list[str], back: set[tuple[str, str]]
) -> None:
    """Walk in depth from a state; `order` gets states when all after them are done."""
    if root in order:
        return
    under_way = [(root, iter(leaving[root]))]
    while under_way:
        name, targets = under_way[-1]
        above = {each for each, _ in under_way}
        for target in targets:
            if target in above:
                back.add((name, target))
            elif target not in order:
                under_way.append((target, iter(leaving[target])))
                break
        else:
            order.append(name)
            under_way.pop()


def _place_edge(edge: Edge, states: dict[str, Box], width: float, made: Layout) -> None:
    """Make the edge's names and lines: one name for all origins above, one for each other."""
    below = states[edge.to].row if edge.to else 0
    above = [states[name] for name in edge.origins if states[name].row < below]
    groups = [above] if above else []
    groups += [[states[name]] for name in edge.origins if states[name] not in above]
    for number, origins in enumerate(groups):
        target = states[edge.to] if edge.to else origins[0]
        row = max(box.row for box in origins) + 1
        if target.row < row - 1:
            row = target.row + 1
        label = Box(f"edge {edge.id} {number}", row, width, edge=edge)
        made.boxes.append(label)
        # What leads back to where it came from is one line.
        for origin in origins if origins != [target] else ():
            made.lines.append(_line(edge, origin, label, made, headed=False))
        made.lines.append(_line(edge, label, target, made, headed=True))


def _line(edge: Edge, start: Box, end: Box, made: Layout, *, headed: bool) -> Line:
    boxes = [start]
    step = 1 if end.row > start.row else -1
    for row in range(start.row + step, end.row, step):
        boxes.append(Box(f"pass {start.key} {end.key} {row}", row, 4.0, edge=edge))
        made.boxes.append(boxes[-1])
    return Line(edge, [*boxes, end], headed)


def _order(made: Layout, spine: set[str]) -> None:
    """Order each row and set every x, by sweeping down and up."""
    rows: dict[int, list[Box]] = defaultdict(list)
    for box in made.boxes:
        rows[box.row].append(box)
    neighbours: dict[str, list[Box]] = defaultdict(list)
    for line in made.lines:
        for one, other in pairwise(line.boxes):
            neighbours[one.key].append(other)
            neighbours[other.key].append(one)
    axis = max((box.width for box in made.boxes if box.key in spine), default=0) / 2
    for boxes in rows.values():
        boxes.sort(key=lambda box: box.key not in spine)
        _pack(boxes, spine, axis, {})
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in sorted(rows, reverse=not down):
            boxes = rows[row]
            wanted = {box.key: _wanted(box, neighbours[box.key], down=down) for box in boxes}
            boxes.sort(key=lambda box: (box.key not in spine, wanted[box.key]))
            _pack(boxes, spine, axis, wanted)


def _wanted(box: Box, neighbours: list[Box], *, down: bool) -> float:
    """The mean of the neighbours in the row before; of all where none is there."""
    side = [each for each in neighbours if (each.row < box.row) is down and each.row != box.row]
    chosen = side or neighbours
    return sum(each.x for each in chosen) / len(chosen) if chosen else box.x


def _pack(boxes: list[Box], spine: set[str], axis: float, wanted: dict[str, float]) -> None:
    """Set every x of a row in its order, as near to what is wanted as the room allows."""
    edge = 0.0
    beside = 2 * axis + GAP
    for box in boxes:
        if box.key in spine:
            box.x = axis
            edge = axis + box.width / 2 + GAP
            continue
        edge = max(edge, beside if box.width > GAP else axis + GAP)
        box.x = max(edge + box.width / 2, wanted.get(box.key, 0.0))
        edge = box.x + box.width / 2 + GAP


def _dock(made: Layout, spine: set[str]) -> None:
    """Spread the lines of each box along its edges, in the order of where they go.

    A box has an upper and a lower side, and each line docks twice, at its first and at its last
    box. A line that goes straight on keeps the middle of its side; the others stand to its left
    and right in the order of the boxes that they lead to, so that they need not cross.
    """
    sides: dict[tuple[str, bool], list[tuple[float, Line, bool]]] = defaultdict(list)
    for line in made.lines:
        for first in (True, False):
            box, next_one = line.boxes[:2] if first else line.boxes[:-3:-1]
            sides[box.key, next_one.row > box.row].append((next_one.x, line, first))
    for docked in sides.values():
        docked.sort(key=lambda entry: entry[0])
        straight = [place for place, entry in enumerate(docked) if _upright(entry, spine)]
        middle = straight[0] if straight else (len(docked) - 1) / 2
        for place, (towards, line, first) in enumerate(docked):
            box = line.boxes[0 if first else -1]
            apart = min(18.0, (box.width - 24) / max(2, 2 * len(docked) - 2))
            x = box.x + apart * (place - middle)
            # Who goes farthest turns first, so that no two lines of a box cross.
            farther = sum(abs(other - box.x) > abs(towards - box.x) for other, _, _ in docked)
            lane = (farther + 1) / (len(docked) + 1)
            if first:
                line.starts = x
                line.crowds, line.lanes = (len(docked), line.crowds[1]), (lane, line.lanes[1])
            else:
                line.ends = x
                line.crowds, line.lanes = (line.crowds[0], len(docked)), (line.lanes[0], lane)


def _space(made: Layout) -> None:
    """Set every y: rows are farther apart where many lines turn between them."""
    crowds: dict[int, int] = defaultdict(int)
    for line in made.lines:
        for pair, crowd in zip((line.boxes[:2], line.boxes[-2:]), line.crowds, strict=True):
            gap = min(box.row for box in pair)
            crowds[gap] = max(crowds[gap], crowd)
    heights = [0.0]
    for row in range(max((box.row for box in made.boxes), default=0)):
        heights.append(heights[-1] + ROW + LANE * max(0, crowds[row] - ROOMY))
    for box in made.boxes:
        box.y = heights[box.row]


def _upright(entry: tuple[float, Line, bool], spine: set[str]) -> bool:
    _, line, first = entry
    pair = line.boxes[:2] if first else line.boxes[-2:]
    return all(box.key in spine for box in pair)
