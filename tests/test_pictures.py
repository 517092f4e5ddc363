"""Pictures of the documents are drawn from text; `python -m tests.test_pictures` draws them."""

from html import escape
from pathlib import Path

from pydantic import BaseModel

from sandbox.model import documents
from tests import ROOT

WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 176, 58, 62, 44, 12
"""A box, the gaps between boxes, and the picture's edge, in pixels."""


class Box(BaseModel):
    at: tuple[int, int]
    """Column and row."""
    text: tuple[str, str]
    """A title and a line below it."""

    def corner(self) -> tuple[int, int]:
        column, row = self.at
        return MARGIN + column * (WIDTH + ACROSS), MARGIN + row * (HEIGHT + DOWN)


class Flow(BaseModel):
    boxes: dict[str, Box]
    arrows: tuple[tuple[str, str, str], ...]
    """From, to, and what it says."""


def drawn(flow: Flow) -> str:
    """Draw a flow as SVG that is read on light and dark pages."""
    columns = max(box.at[0] for box in flow.boxes.values()) + 1
    rows = max(box.at[1] for box in flow.boxes.values()) + 1
    width = 2 * MARGIN + columns * WIDTH + (columns - 1) * ACROSS
    height = 2 * MARGIN + rows * HEIGHT + (rows - 1) * DOWN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"',
        ' font-family="sans-serif" font-size="12">\n<title>The flow of a run</title>\n',
        '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8"',
        ' markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#4a6785"/></marker>',
        "</defs>\n",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n',
        *(_arrow(flow.boxes[start], flow.boxes[end], text) for start, end, text in flow.arrows),
        *map(_box, flow.boxes.values()),
        "</svg>\n",
    ]
    return "".join(parts)


def _box(box: Box) -> str:
    (x, y), (title, line) = box.corner(), map(escape, box.text)
    middle = x + WIDTH // 2
    return (
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#eef3f8"'
        f' stroke="#4a6785"/>\n<text x="{middle}" y="{y + 24}" text-anchor="middle"'
        f' font-weight="bold" fill="#1b2a3a">{title}</text>\n<text x="{middle}" y="{y + 43}"'
        f' text-anchor="middle" font-size="11" fill="#33475b">{line}</text>\n'
    )


def _arrow(start: Box, end: Box, text: str) -> str:
    (x1, y1), (x2, y2) = start.corner(), end.corner()
    if start.at[0] == end.at[0]:
        down = y2 > y1
        x1 = x2 = x1 + WIDTH // 2
        y1, y2 = (y1 + HEIGHT, y2) if down else (y1, y2 + HEIGHT)
        label = f'x="{x1 + 6}" y="{(y1 + y2) // 2 + 4}"'
    else:
        x1, y1, y2 = x1 + WIDTH, y1 + HEIGHT // 2, y2 + HEIGHT // 2
        label = f'x="{(x1 + x2) // 2}" y="{(y1 + y2) // 2 - 5}" text-anchor="middle"'
    return (
        f'<path d="M{x1} {y1}L{x2} {y2}" stroke="#4a6785" fill="none" marker-end="url(#end)"/>\n'
        f'<text {label} font-size="10" fill="#4a6785">{escape(text)}</text>\n'
    )


def of(path: Path) -> str:
    """Draw what a text file describes."""
    return drawn(documents.load(path, Flow))


def test_the_flow_is_drawn_from_its_text() -> None:
    text = (ROOT / "docs" / "flow.svg").read_text(encoding="utf-8")
    assert text == of(ROOT / "docs" / "flow.yaml"), "run: python -m tests.test_pictures"


if __name__ == "__main__":
    (ROOT / "docs" / "flow.svg").write_text(of(ROOT / "docs" / "flow.yaml"), encoding="utf-8")
