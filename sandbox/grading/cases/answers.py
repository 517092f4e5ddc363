"""What a candidate gave, and why it gave nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Value:
    """A function's value, as JSON of `runners/wire.py`."""

    wire: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """A function's error: its class and its text."""

    type: str
    message: str


@dataclass(frozen=True, slots=True)
class Fields:
    """What everything else gives: values by name, as JSON of `runners/wire.py`."""

    wires: Mapping[str, Any]


Answer = Value | Raised | Fields


class ForgedAnswer(Exception):  # noqa: N818 - as above
    """An answer that nothing but an attempt at forgery explains."""
