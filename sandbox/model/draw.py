"""Values of cases: literal, or drawn afresh at each grading.

A mapping with the key `draw` is drawn; every other value stands for itself, and what is in a list
or a mapping may be drawn in turn.
"""

import ast
import re
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator
from typing_extensions import TypeAliasType

from sandbox.model.base import Record

LENGTH = Field(default=8, ge=0, le=10_000)
INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")


def divided(line: str) -> tuple[str, str]:
    """Divide a script's line: what it imports, with its colon, and what Python reads."""
    module, colon, expression = line.partition(":")
    if colon and all(part.isidentifier() for part in module.split(".")):
        return f"{module}:", expression
    return "", line


def _whole(value: object) -> object:
    return int(value) if isinstance(value, str) and INTEGER.fullmatch(value) else value


Whole = Annotated[
    int,
    BeforeValidator(_whole),
    WithJsonSchema(
        {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": INTEGER.pattern}]}
    ),
]
"""An integer; in quotes where it has more than 18 digits."""

Spread = Literal["even", "magnitude"]
"""All values alike, or first the number of digits and then the value."""


class _Draw(Record):
    @model_validator(mode="after")
    def _has_an_order(self) -> "_Draw":
        low, high = getattr(self, "minimum", 0), getattr(self, "maximum", 0)
        if low > high:
            raise ValueError("minimum is above maximum")
        return self


class DrawInteger(_Draw):
    """An integer of a range, both ends included."""

    draw: Literal["integer"]
    minimum: Whole
    maximum: Whole
    spread: Spread = "even"


class DrawFloat(_Draw):
    """A float of a range."""

    draw: Literal["float"]
    minimum: float
    maximum: float


class DrawBoolean(_Draw):
    """True or false."""

    draw: Literal["boolean"]


class DrawString(_Draw):
    """Text of some length, each character out of an alphabet."""

    draw: Literal["string"]
    alphabet: str = Field(default="abcdefghijklmnopqrstuvwxyz", min_length=1)
    minimum: int = Field(default=0, ge=0)
    maximum: int = LENGTH


class DrawChoice(_Draw):
    """One of some values, which may be drawn themselves."""

    draw: Literal["choice"]
    of: tuple["Input", ...] = Field(min_length=1)


class DrawList(_Draw):
    """A list of some length."""

    draw: Literal["list"]
    of: "Input"
    minimum: int = Field(default=0, ge=0)
    maximum: int = LENGTH


class DrawDictionary(_Draw):
    """A dictionary with so many entries, or fewer where keys were drawn twice."""

    draw: Literal["dictionary"]
    keys: "Input"
    values: "Input"
    minimum: int = Field(default=0, ge=0)
    maximum: int = LENGTH


class DrawTuple(_Draw):
    """A tuple of these values."""

    draw: Literal["tuple"]
    of: tuple["Input", ...]


class DrawText(_Draw):
    """The text of another value, as Python's `str` gives it."""

    draw: Literal["text"]
    of: "Input"


class DrawJoined(_Draw):
    """The texts of some values, one after the other."""

    draw: Literal["joined"]
    of: tuple["Input", ...] = Field(min_length=1)


class DrawScript(_Draw):
    """A script out of some, as it is or with other values in its lines.

    A digit becomes another one, a letter another one of its case, or a text grows by some letters;
    what is one value in all lines stays one.
    """

    draw: Literal["script"]
    of: tuple[tuple[str, ...], ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _can_be_read(self) -> "DrawScript":
        for line in (line for lines in self.of for line in lines):
            try:
                ast.parse(divided(line)[1], mode="eval")
            except (SyntaxError, ValueError) as error:
                raise ValueError(f"{line!r} is not an expression of Python") from error
        return self


class DrawConstant(_Draw):
    """A value that YAML has no word for."""

    draw: Literal["constant"]
    of: Literal["nan", "infinity", "-infinity"] | Whole


Draw: TypeAlias = (
    DrawInteger
    | DrawFloat
    | DrawBoolean
    | DrawString
    | DrawChoice
    | DrawList
    | DrawDictionary
    | DrawTuple
    | DrawText
    | DrawJoined
    | DrawScript
    | DrawConstant
)


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return "draw" if "draw" in value else "mapping"
    if isinstance(value, _Draw):
        return "draw"
    return "list" if isinstance(value, list | tuple) else "scalar"


if TYPE_CHECKING:
    Input: TypeAlias = (
        Draw | dict[str, "Input"] | tuple["Input", ...] | bool | int | float | str | None
    )
else:
    Input = TypeAliasType(
        "Input",
        Annotated[
            Annotated[Draw, Field(discriminator="draw"), Tag("draw")]
            | Annotated[dict[str, "Input"], Tag("mapping")]
            | Annotated[tuple["Input", ...], Tag("list")]
            | Annotated[bool | int | float | str | None, Tag("scalar")],
            Discriminator(_kind),
        ],
    )
