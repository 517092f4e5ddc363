"""Tables as plain text: columns that line up, numbers to the right."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sandbox.cli.terminal import line

if TYPE_CHECKING:
    from sandbox.model.report import Interval

NOTHING = "-"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> list[str]:
    """Align rows below a head; the first `left` columns to the left, the others to the right."""
    cells = [[line(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    return [
        "  "
        + "  ".join(
            f"{cell:<{width}}" if column < left else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def number(value: float | None) -> str:
    """A rate or size in few digits; `-` where there is none."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == int(value) and abs(value) >= 10:
        return f"{value:.0f}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def count(value: float) -> str:
    """A numerator or denominator."""
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}"


def interval(found: "Interval | None") -> str:
    """Both ends; `-` where there is too little to tell."""
    return NOTHING if found is None else f"{number(found.low)} to {number(found.high)}"


def method(found: "Interval | None") -> str:
    """How an interval was made, and of how much."""
    return "" if found is None else f"{found.method}, {found.units}"
