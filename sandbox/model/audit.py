"""What an audit of a suite says: the signs of an evaluation that is too easy."""

from typing import Literal

from sandbox.model.base import Record

Status = Literal["clear", "warning", "unknown"]


class Sign(Record):
    """One warning sign. `docs/audit.md` has the definition of each."""

    name: str
    question: str
    status: Status
    value: str
    """The figure, with its numerator and denominator."""
    details: tuple[str, ...] = ()
    """What it rests on, a line each."""
