"""What a specification of numbered clauses is made of: `sandbox/tasks/features/clauses.yaml`."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from sandbox.model.base import Record

Bounds = Annotated[tuple[int, ...], Field(min_length=2, max_length=2)]


class OrderField(Record):
    """A field of the dictionary that the function is called with."""

    says: str
    draw: dict[str, Any]
    """How its value is drawn for a case, as `sandbox.model.draw` has it."""
    refused: Bounds | None = None
    """The least and the greatest value; a clause may refuse what lies outside."""


class DrawnValue(Record):
    """A number in a clause: drawn from a range, or made of another one."""

    minimum: int = 0
    maximum: int = 0
    step: int = Field(default=1, ge=1)
    of: str = ""
    """The value it is made of; that one stands before it."""
    plus: int = 0
    times: int = 1

    @model_validator(mode="after")
    def _is_drawn_or_made(self) -> Self:
        if bool(self.of) is bool(self.maximum):
            raise ValueError("give a range, or `of` which value it is made")
        return self


class ConditionKind(Record):
    """When a clause applies."""

    says: str
    holds: str
    """An expression."""
    values: dict[str, DrawnValue] = {}
    draws: dict[str, tuple[Any, ...]] = {}
    """By field, inputs for which it holds and some, at its border, for which it does not."""


class EffectKind(Record):
    """What a clause does."""

    says: str
    does: str
    """A statement."""
    values: dict[str, DrawnValue] = {}
    amount: str = ""
    """The value that another clause may change."""
    order: Literal["adds", "scales", ""] = ""
    """Whether it matters if it comes ahead of one that adds, or one that scales."""


class ClauseKinds(Record):
    """All of it."""

    fields: dict[str, OrderField]
    words: dict[str, tuple[str, ...]]
    conditions: dict[str, ConditionKind]
    charges: dict[str, EffectKind]
    delivery: dict[str, EffectKind]
