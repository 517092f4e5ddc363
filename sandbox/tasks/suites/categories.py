"""Three kinds of tasks: the happy path, edge cases, and recovery from failures."""

import functools
from collections.abc import Iterable
from pathlib import Path

from pydantic import Field, RootModel

from sandbox.model import documents
from sandbox.model.base import Record

FILE = Path(__file__).with_name("categories.yaml")


class Category(Record):
    """One kind."""

    share: float = Field(ge=0, le=1)
    """What a suite should have of it."""
    names: tuple[str, ...]
    """Operators and tags by which a task is of it."""


class Categories(RootModel[dict[str, Category]]):
    """All kinds, in the order in which they are looked for; the last takes what is left."""


def category(operators: Iterable[str], tags: Iterable[str]) -> str:
    """Say of which kind a task is; operators may have their strengths with them."""
    named = {each.partition(".")[0] for each in operators} | set(tags)
    kinds = categories()
    for name, kind in kinds.items():
        if named.intersection(kind.names):
            return name
    return list(kinds)[-1]


@functools.cache
def categories() -> dict[str, Category]:
    """Read the kinds."""
    return documents.load(FILE, Categories).root
