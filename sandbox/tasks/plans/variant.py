"""Names of variants: `<repo>/<task>+<operator>[.<strength>]...[@<number>]`."""

import re
from dataclasses import dataclass

from sandbox.model.errors import UsageError

STRENGTHS = range(1, 6)
USUAL = 3
"""The strength of an operator whose name stands alone."""
NUMBERS = range(1, 1_000_001)
"""What tells variants apart that differ in nothing but drawn values; 1 where none is named."""
_PART = re.compile(r"([a-z][a-z-]*)(?:\.([0-9]{1,9}))?")
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Variant:
    """A task under operators, each with its strength."""

    task: str
    operators: tuple[tuple[str, int | None], ...]
    """Names with their strengths; None where the name leaves it to the operator."""
    number: int | None = None
    """What values are drawn by; None where the name leaves it open, or nothing is drawn."""

    @classmethod
    def parse(cls, name: str) -> "Variant":
        """Read a name; UsageError where an operator's or the number is spelt wrong."""
        written, mark, number = name.partition("@")
        task, *parts = written.split("+")
        operators = tuple(_operator(name, part) for part in parts)
        return cls(task, operators, _number(name, number) if mark else None)

    def __str__(self) -> str:
        """Return the name, each strength in it."""
        name = "+".join((self.task, *self.parts))
        return name if self.number is None else f"{name}@{self.number}"

    @property
    def parts(self) -> tuple[str, ...]:
        """Operators as the name has them."""
        return tuple(
            operator if strength is None else f"{operator}.{strength}"
            for operator, strength in self.operators
        )


def _operator(name: str, part: str) -> tuple[str, int | None]:
    found = _PART.fullmatch(part)
    if found is None:
        raise UsageError(
            f"{name!r} is not the name of a variant: {part!r} is not an operator's name.",
            "Write them as in TASK+tight-budget.4.",
        )
    return found[1], int(found[2]) if found[2] else None


def _number(name: str, text: str) -> int:
    number = int(text) if _NUMBER.fullmatch(text) else 0
    if number not in NUMBERS:
        first, last = NUMBERS[0], NUMBERS[-1]
        raise UsageError(
            f"{name!r} is not the name of a variant: its number is {text!r}.",
            f"Write a number from {first} to {last}, as in TASK+change-desk@7.",
        )
    return number
