"""What becomes of the fields of a foreign file: kept, told, refused, or not known."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import RootModel

from sandbox.model import documents
from sandbox.model.base import Record
from sandbox.model.listing import some

TABLE = Path(__file__).with_name("fields.yaml")
SHOWN = 5
"""Fields that a note names."""

Format = Literal["harbor", "terminal-bench", "service", "instance"]


class Row(Record):
    """One row of `fields.yaml`."""

    read: tuple[str, ...] = ()
    field: str = ""
    unless: tuple[str, ...] = ()
    """Values, in small letters; of a list its words."""
    told: str = ""
    refused: str = ""


class Table(RootModel[dict[Format, tuple[Row, ...]]]):
    """By format."""


def unkept(data: Mapping[str, object], of: Format) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the sentences for what cannot be kept, and those for which a task is refused."""
    rows = _rows()[of]
    named = {row.field: row for row in rows if row.field}
    read = {name for row in rows for name in row.read}
    notes: list[str] = []
    problems: list[str] = []
    unknown = []
    for name, value in _fields(data, {*named, *read}):
        row = named.get(name)
        if row is None:
            unknown += [] if name in read else [name]
        elif not _is_as_unset(value, row):
            notes += filter(None, [row.told])
            problems += filter(None, [row.refused])
    if unknown:
        plain = [each if each.isprintable() else ascii(each) for each in unknown]
        notes.append(f"Fields that are not known here were not read: {some(plain, SHOWN)}.")
    return tuple(dict.fromkeys(notes)), tuple(dict.fromkeys(problems))


def _fields(data: Mapping[str, object], known: set[str]) -> Iterator[tuple[str, object]]:
    """Yield fields and their values, two levels deep where the table knows no whole one."""
    for name, value in data.items():
        if name not in known and isinstance(value, dict):
            yield from ((f"{name}.{below}", each) for below, each in value.items())
        else:
            yield str(name), value


def _is_as_unset(value: object, row: Row) -> bool:
    if value is None or value is False or value in ("", 0) or value == [] or value == {}:
        return True
    words = value if isinstance(value, list) else [value]
    return " ".join(str(each) for each in words).strip().lower() in row.unless


@cache
def _rows() -> dict[Format, tuple[Row, ...]]:
    return documents.load(TABLE, Table).root
