"""The fields of a final answer, and what each has to be."""

from typing import Literal, Self

from pydantic import JsonValue, model_validator

from sandbox.model.atom import Atom
from sandbox.model.base import Record


class Computed(Record):
    """A claim about the path that the facts of the run decide."""

    count: Atom | None = None
    """How many steps match: an integer."""
    happened: Atom | None = None
    """Whether a step matches: a boolean."""

    @property
    def type(self) -> Literal["integer", "boolean"]:
        """The type of what is computed."""
        return "integer" if self.count is not None else "boolean"

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if (self.count is None) == (self.happened is None):
            raise ValueError("give one of `count` and `happened`")
        if any(atom.bind or atom.uses for atom in (self.count, self.happened) if atom):
            raise ValueError("what is computed has no variables")
        return self


class FinalField(Record):
    """One field of the final answer; types are compared exactly."""

    expect: JsonValue = None
    """The one right value; None where any value of the type will do."""
    computed: Computed | None = None
    """What the value has to be by the facts of the run; with `expect` it has to be both."""
    type: Literal["string", "integer", "number", "boolean", "list"]

    @model_validator(mode="after")
    def _is_of_the_type_that_is_computed(self) -> Self:
        wanted = None if self.computed is None else self.computed.type
        if wanted is not None and self.type != wanted:
            raise ValueError(f"what is computed is of the type {wanted}, not {self.type}")
        return self
