"""Recordings of terminals as asciinema writes them, read without trusting them.

Formats: version 1 (one object), version 2 (a header and an event a line) and version 3 (the same
with intervals for times), as asciinema's documentation describes them under "asciicast".
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.model.errors import DocumentError

MOST_BYTES = 64 << 20
WIDTHS = range(2, 1001)
"""Columns that a terminal may have."""


@dataclass(frozen=True, slots=True)
class Cast:
    """What a terminal was sent, in the pieces in which it came."""

    width: int
    """Columns."""
    printed: tuple[str, ...]


def read(path: Path) -> Cast:
    """Read a recording; DocumentError names the line that is none of one."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise _refusal(path, f"has more than {MOST_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DocumentError(
            f"{path}: cannot be read: {error.strerror}.", "Check the path and its permissions."
        ) from error
    except UnicodeDecodeError as error:
        raise _refusal(path, "is not UTF-8 text") from error
    lines = text.split("\n")  # other ends of lines may stand in what was printed
    head = _parsed(path, 1, lines[0])
    version = head.get("version") if isinstance(head, dict) else None
    if version == 1 and isinstance(head.get("stdout"), list):
        events = list(enumerate(head["stdout"], 1))
        return Cast(_width(path, head), tuple(_pieces(path, events, place="event", text=1)))
    if version not in (2, 3):
        raise _refusal(path, "its first line is not the header of a recording")
    columns = head if version == 2 else _table(head.get("term"))
    rows = [
        (number, _parsed(path, number, line))
        for number, line in enumerate(lines[1:], 2)
        if line.strip() and not line.startswith("#")
    ]
    return Cast(_width(path, columns), tuple(_pieces(path, rows, place="line", text=2)))


def _pieces(path: Path, rows: list[tuple[int, Any]], *, place: str, text: int) -> Iterator[str]:
    """Yield what was printed; `text` is the field of an event that holds it."""
    for number, row in rows:
        if not isinstance(row, list) or len(row) != text + 1 or not isinstance(row[text], str):
            raise _refusal(path, f"{place} {number} is not an event of a recording")
        if text == 1 or row[1] == "o":
            yield row[text]


def _parsed(path: Path, number: int, line: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _refusal(path, f"line {number} is not JSON") from error


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _width(path: Path, head: dict[str, Any]) -> int:
    width = head.get("width", head.get("cols"))
    if isinstance(width, bool) or not isinstance(width, int) or width not in WIDTHS:
        raise _refusal(path, "its header does not say how wide the terminal was")
    return width


def _refusal(path: Path, problem: str) -> DocumentError:
    return DocumentError(
        f"{path}: {problem}.", "`asciinema rec FILE.cast` makes one; nothing was imported."
    )
