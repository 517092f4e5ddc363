"""Names of variants: `<repo>/<task>+<operator>[.<strength>]...`."""

import re
from dataclasses import dataclass

from sandbox.model.errors import UsageError

STRENGTHS = range(1, 6)
USUAL = 3
"""The strength of an operator whose name stands alone."""
_PART = re.compile(r"([a-z][a-z-]*)(?:\.([0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class Variant:
    """A task under operators, each with its strength."""

    task: str
    operators: tuple[tuple[str, int | None], ...]
    """Names with their strengths; None where the name leaves it to the operator."""

    @classmethod
    def parse(cls, name: str) -> "Variant":
        """Read a name; UsageError where an operator's is spelt wrong."""
        task, *parts = name.split("+")
        return cls(task, tuple(_operator(name, part) for part in parts))

    def __str__(self) -> str:
        """Return the name, each strength in it."""
        return "+".join((self.task, *self.parts))

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
