"""The fields of a final answer, and what each has to be."""

import json
import re
import string
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Literal, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from sandbox.model.atom import Atom, field
from sandbox.model.base import Record

TRUE_VALUE = "{true value}"
"""What a script says in a field that the facts of its own run decide."""


_LEFT = re.compile(r"\{true ([A-Z][A-Za-z-]*)\}")


def left_to_facts(name: str) -> str:
    """Give what a script says in the text of a command for a trailer that the facts decide."""
    return f"{{true {name}}}"


def leaves_to_facts(text: str) -> bool:
    """Whether a text leaves something to the facts."""
    return _LEFT.search(text) is not None


def by_facts(text: str, true: Mapping[str, JsonValue]) -> str:
    """Put in what the facts say."""
    return _LEFT.sub(lambda found: written(true.get(found[1])), text)


def same_but_for_facts(text: str, filled: str) -> bool:
    """Whether a text is a script's, but for what that leaves to the facts."""
    parts = _LEFT.split(text)[::2]
    return re.fullmatch(".*".join(map(re.escape, parts)), filled, re.DOTALL) is not None


def written(value: JsonValue) -> str:
    """Write a value as it stands in a line: a list with commas, `none` where it is empty."""
    if isinstance(value, list):
        return ", ".join(map(written, value)) or "none"
    return value if isinstance(value, str) else json.dumps(value)


FieldType = Literal["string", "integer", "number", "boolean", "list"]

TYPES: dict[FieldType, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list,),
}
"""What a value of each is in Python; a boolean is no integer here."""


class Listed(Record):
    """A field of each step that matches, in their order."""

    step: Atom
    field: str
    """With dots: `arguments.path`, `result.exit_code`. A step without it is left out."""

    @field_validator("field")
    @classmethod
    def _is_a_field(cls, name: str) -> str:
        return field(name)


class Computed(Record):
    """A claim about the path that the facts of the run decide."""

    count: Atom | None = None
    """How many steps match: an integer."""
    happened: Atom | None = None
    """Whether a step matches: a boolean."""
    listed: Listed | None = Field(default=None, exclude_if=lambda it: it is None)
    """What a field of the steps that match holds: a list."""
    last: Listed | None = Field(default=None, exclude_if=lambda it: it is None)
    """What a field of the last step that matches and has it holds: a text."""
    latest: dict[str, JsonValue] | None = None
    """By saying of the user's: the value that holds from then on; by `""`: the one before."""

    @property
    def type(self) -> FieldType:
        """The type of what is computed."""
        if self.latest is not None:
            kinds = {type(value) for value in self.latest.values()}
            return next(name for name, known in TYPES.items() if kinds <= {*known})
        if self.listed is not None:
            return "list"
        if self.last is not None:
            return "string"
        return "integer" if self.count is not None else "boolean"

    @property
    def atom(self) -> Atom | None:
        """The steps that decide, where steps do."""
        return self.looked_up.step if self.looked_up else self.count or self.happened

    @property
    def looked_up(self) -> Listed | None:
        """The field of the steps that decides, where one does."""
        return self.listed or self.last

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if [self.count, self.happened, self.listed, self.last, self.latest].count(None) != 4:
            raise ValueError("give one of `count`, `happened`, `listed`, `last` and `latest`")
        if self.latest is not None:
            kinds = {type(value) for value in self.latest.values()}
            if "" not in self.latest or not any(kinds <= {*known} for known in TYPES.values()):
                raise ValueError('`latest` needs values of one type, one of them by `""`')
        if self.atom is not None and (self.atom.bind or self.atom.uses):
            raise ValueError("what is computed has no variables")
        return self


Comparison = Literal["exact", "text", "quantity", "unordered"]
"""How a value is compared with the one that is expected, always as a whole:

- `exact`: the same value.
- `text`: a string, blanks, case and punctuation apart, as GAIA's scorer does.
- `quantity`: a string of a number and a unit; `1,500 kB` is `1500kB`, and not `1.5 MB`.
- `unordered`: a list with the same elements, each as often, in whatever order.
"""


class FinalField(Record):
    """One field of the final answer; types are compared exactly."""

    expect: JsonValue = None
    """The one right value; None where any value of the type will do."""
    compare: Comparison = "exact"
    computed: Computed | None = None
    """What the value has to be by the facts of the run; with `expect` it has to be both."""
    type: FieldType

    @model_validator(mode="after")
    def _compares_what_can_be_compared_so(self) -> Self:
        if self.compare == "exact":
            return self
        kind = "list" if self.compare == "unordered" else "string"
        known = [self.expect]
        if self.computed is not None and self.computed.latest is not None:
            known = list(self.computed.latest.values())
        if self.type != kind or None in known:
            raise ValueError(f"`compare: {self.compare}` needs a {kind} that is expected")
        for value in known:
            if self.compare == "quantity" and quantity(str(value)) is None:
                raise ValueError(f"{value!r} is not a number with a unit")
        return self

    @model_validator(mode="after")
    def _expects_a_value_of_its_type(self) -> Self:
        if self.expect is not None and type(self.expect) not in TYPES[self.type]:
            raise ValueError(f"{self.expect!r} is expected, and the type is {self.type}")
        return self

    @model_validator(mode="after")
    def _is_of_the_type_that_is_computed(self) -> Self:
        if self.computed is None:
            return self
        wanted = self.computed.type
        if self.computed.latest is not None and (self.type, wanted) == ("number", "integer"):
            return self
        if self.type != wanted:
            raise ValueError(f"what is computed is of the type {wanted}, not {self.type}")
        return self


def plain_text(text: str) -> str:
    """Give a text without blanks, case and punctuation.

    As `normalize_str` of the GAIA benchmark's scorer (Mialon et al. 2023, arXiv 2311.12983).
    """
    return "".join(text.split()).lower().translate(str.maketrans("", "", string.punctuation))


def quantity(text: str) -> tuple[Decimal, str] | None:
    """Give the number and the unit of a text; None where it is not one number with one unit."""
    found = re.fullmatch(
        r"([$€£]?)([-+]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?)(\D*)", "".join(text.split())
    )
    if found is None:
        return None
    try:
        return Decimal(found[2].replace(",", "")), found[1] + found[3]
    except InvalidOperation:
        return None
