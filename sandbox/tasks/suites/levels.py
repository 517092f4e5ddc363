"""Levels: how hard variants are made, as `levels.yaml` says."""

import re
from functools import cache
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, RootModel, StringConstraints, model_validator

from sandbox.model import documents
from sandbox.model.base import Record
from sandbox.model.task import Facet

_CHOICE = re.compile(r"([a-z][a-z-]*)(?:\.([1-5])(?:-([1-5]))?)?")
Choice = Annotated[str, StringConstraints(pattern=rf"^{_CHOICE.pattern}$")]
Group = Annotated[tuple[Choice, ...], Field(min_length=1)]


class Level(Record):
    """What a level's variants are drawn from, and between which bounds they have to lie."""

    says: str
    always: tuple[Group, ...] = ()
    perhaps: tuple[Group, ...] = ()
    facets: dict[Facet, tuple[Group, ...]] = Field(default_factory=dict)
    """What a facet's variants have beside `always`: what is hard in one is easy in another."""
    decisions: tuple[int, int]
    """Least and most that the operators may add to those of the task."""

    def always_in(self, facet: str) -> tuple[Group, ...]:
        """Return the groups of which a facet's variants have one alternative each."""
        return (*self.always, *self.facets.get(Facet(facet), ()))

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if self.decisions[0] > self.decisions[1]:
            raise ValueError("the least of `decisions` is above the most")
        taken = {name for group in self.always if (name := _alone(group))}
        for facet, groups in self.facets.items():
            if twice := sorted(taken.intersection(filter(None, map(_alone, groups)))):
                raise ValueError(f"{facet} has {', '.join(twice)} twice, for `always` has it")
        return self


class Levels(RootModel[dict[str, Level]]):
    """All levels, from easy to hard."""


def _alone(group: Group) -> str | None:
    """Return the one operator of a group."""
    names = {choice.partition(".")[0] for choice in group}
    return names.pop() if len(names) == 1 else None


@cache
def levels() -> dict[str, Level]:
    """Return the levels by name, in order."""
    return documents.load(Path(__file__).with_name("levels.yaml"), Levels).root


def alternatives(group: Group) -> list[str]:
    """Return the operators of a group, each with each of its strengths."""
    found = []
    for choice in group:
        matched = _CHOICE.fullmatch(choice)
        if matched is None:
            continue
        name, first, last = matched.groups()
        if first is None:
            found.append(name)
        else:
            strengths = range(int(first), int(last or first) + 1)
            found += [f"{name}.{strength}" for strength in strengths]
    return found
