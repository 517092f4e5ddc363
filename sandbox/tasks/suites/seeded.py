"""The tasks of seeds that a suite is drawn from: each defect of some repositories in each draft."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache

from sandbox.model import places
from sandbox.model.errors import UsageError
from sandbox.tasks.drafts import layout, planting, seed_folder
from sandbox.tasks.drafts.layout import Layout
from sandbox.tasks.plans.operators import tight_output
from sandbox.tasks.suites import suite
from sandbox.tasks.suites.generator import remainders
from sandbox.tasks.suites.levels import levels

ALL = "all"
DEV = range(8, 10)
"""Of the repositories that gold does not use: the remainders, by ten, of those for development."""


def facets() -> tuple[str, ...]:
    """The facets of drafts, in order."""
    return tuple(sorted({*_facets().values()}))


def facets_of(names: Sequence[str]) -> tuple[str, ...]:
    """The facets that tasks of some repositories' seeds can be of, in order."""
    return tuple(facet for facet in facets() if any(facet in _fitting(name) for name in names))


def repositories(patterns: Sequence[str]) -> tuple[str, ...]:
    """Find those with seeds that are named, or like a pattern; UsageError where one names none."""
    known = seed_folder.names()
    found: set[str] = set()
    for pattern in patterns:
        like = [name for name in known if pattern == ALL or fnmatchcase(name, pattern)]
        if not like:
            raise UsageError(
                f"No repository with seeds is like {pattern!r}.", f"There are {', '.join(known)}."
            )
        found.update(like)
    return tuple(sorted(found))


def tasks(
    names: Sequence[str], facet: str, level: str, split: str | None = None
) -> tuple[str, ...]:
    """The tasks of a facet that the seeds of repositories are; with a split, of those in it alone.

    For a level that bounds what is shown it has to be known what a task's oracle is shown.
    UsageError where there are none.
    """
    remainders(split)
    kept = [name for name in names if split in (None, split_of(name))]
    found = tuple(f"{name}/{each}" for name in kept for each in _fitting(name).get(facet, ()))
    if found and _bounds_output(level):
        found = tuple(name for name in found if name in tight_output.recorded())
    if not found:
        of = f" in {split}" if split else ""
        raise UsageError(
            f"No seed of {', '.join(names)}{of} is a task of the facet {facet!r} for {level}.",
            f"Facets: {', '.join(facets_of(names))}. From L5 on it has to be known what its oracle"
            " is shown: docs/suites.md. Name other repositories, or --seeds all.",
        )
    return found


def split_of(repository: str) -> str:
    """Say in which split a repository is: those of the gold suite are for testing.

    All of it is in one, for a backlog holds several of its seeds.
    """
    if repository in _of_gold():
        return "test"
    remainder = int(hashlib.sha256(repository.encode()).hexdigest(), 16) % 10
    return "dev" if remainder in DEV else "train"


def _bounds_output(level: str) -> bool:
    """Whether all variants of a level are shown hardly more than their oracle."""
    name = tight_output.OPERATOR.name
    always = levels()[level].always if level in levels() else ()
    return any(all(each.partition(".")[0] == name for each in group) for group in always)


@cache
def _drafts() -> dict[str, Layout]:
    return {name: layout.load(name) for name in layout.names()}


@cache
def _facets() -> dict[str, str]:
    return {name: str(laid.task["facet"]) for name, laid in _drafts().items()}


@cache
def _fitting(repository: str) -> dict[str, tuple[str, ...]]:
    """By facet, each draft with each seed that it fits, as a task of the repository is called."""
    of, found = seed_folder.load(repository), defaultdict(list)
    for seed in of.seeds.seeds:
        for draft, laid in _drafts().items():
            if not planting.unfit(laid, of, seed):
                found[_facets()[draft]].append(f"{draft}-{seed.id.rpartition('-')[2]}")
    return {facet: tuple(tasks) for facet, tasks in found.items()}


@cache
def _of_gold() -> frozenset[str]:
    path = places.project() / places.SUITES["gold"]
    pins = suite.read(path).variants if path.is_file() else ()
    return frozenset(pin.variant.partition("/")[0] for pin in pins)
