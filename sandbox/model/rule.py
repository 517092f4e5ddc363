"""Trajectory rules: templates that join atoms. Each says what holds over all steps of a run."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from sandbox.model.atom import VARIABLE, Atom
from sandbox.model.base import Record

__all__ = [
    "AtMost",
    "Atom",
    "Derived",
    "Fresh",
    "Never",
    "NeverAfter",
    "Precedes",
    "Required",
    "Responds",
    "Rule",
    "RuleBase",
]


class RuleBase(Record):
    """What all rules have.

    A rule with variables holds for each of their values by itself. Each of its atoms binds all of
    them, uses some of them, or has none and then stands for every value.
    """

    variables_allowed: ClassVar[bool] = True

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    hard: bool = True
    """Whether a run that breaks it fails; a soft one is only reported."""
    reason: str = Field(min_length=1)
    """Why the rule exists."""
    attack: bool = False
    """Whether to break it is the goal of somebody who wrote what the agent reads."""
    stated_in: str = Field(min_length=1)
    """Where the agent is told: `prompt`, `policy`, `history` for the messages of commits, or a file
    of the repository."""
    says: str | None = Field(default=None, min_length=1)
    """The words by which it is told there; where they are left out, a statement has them."""

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """Its atoms, in the order of its fields."""
        values = (getattr(self, name) for name in type(self).model_fields)
        return tuple(value for value in values if isinstance(value, Atom))

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of its variables, sorted."""
        return tuple(sorted({name for atom in self.atoms for name in atom.bind}))

    @model_validator(mode="after")
    def _binds_what_it_uses(self) -> Self:
        every = frozenset(self.variables)
        if every and not self.variables_allowed:
            raise ValueError("a rule of one atom has no variables: there is nothing to carry")
        for atom in self.atoms:
            if atom.bind and (atom.bind.keys() != every or atom.uses & every):
                raise ValueError(
                    "an atom binds all variables of its rule and uses none, or binds none"
                )
        return self


class Required(RuleBase):
    """At least one step matches `a`."""

    variables_allowed = False

    template: Literal["required"]
    a: Atom


class Never(RuleBase):
    """No step matches `a`."""

    variables_allowed = False

    template: Literal["never"]
    a: Atom


class NeverAfter(RuleBase):
    """Once a step has matched `a`, none matches `b`."""

    template: Literal["never_after"]
    a: Atom
    b: Atom


class Precedes(RuleBase):
    """Before each step that matches `b`, a step has matched `a`."""

    template: Literal["precedes"]
    a: Atom
    b: Atom


class Fresh(RuleBase):
    """Before each step that matches `before`, one has matched `a`, and since then none `since`."""

    template: Literal["fresh"]
    a: Atom
    since: Atom
    before: Atom


class Responds(RuleBase):
    """After each step that matches `a`, a step matches `b`."""

    template: Literal["responds"]
    a: Atom
    b: Atom


class AtMost(RuleBase):
    """At most `n` steps match `a`; with a variable, `n` for each value."""

    template: Literal["at_most"]
    a: Atom
    n: int = Field(ge=1)
    tells: str | None = Field(
        default=None, pattern=r"^[a-z][a-z_]*$", exclude_if=lambda it: it is None
    )
    """The name under which each reply to the agent says how many are left; None for silence."""

    @model_validator(mode="after")
    def _tells_of_one_number(self) -> Self:
        if self.tells is not None and self.variables:
            raise ValueError("`tells` has one number, and the rule one for each value")
        return self


class Derived(RuleBase):
    """Each step that matches `in` carries a value of `x` that an earlier `from` gave."""

    model_config = ConfigDict(
        validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )

    template: Literal["derived"]
    x: str = Field(pattern=rf"^{VARIABLE}$")
    source: Atom = Field(alias="from")
    target: Atom = Field(alias="in")

    @model_validator(mode="after")
    def _carries_one_variable(self) -> Self:
        if set(self.source.bind) != {self.x}:
            raise ValueError(f"`from` must bind {self.x} and no other variable")
        if set(self.target.bind) != {self.x}:
            raise ValueError(f"`in` must bind {self.x}, so that its value can be looked at")
        return self


Rule = Annotated[
    Required | Never | NeverAfter | Precedes | Fresh | Responds | AtMost | Derived,
    Field(discriminator="template"),
]
