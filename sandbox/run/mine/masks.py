"""Which places hide each other: sets of them of which none can be mended with a test to show it."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.run.mine.draw import FILES, Defect
from sandbox.tasks.differences import lines_of
from sandbox.tasks.seeds.mined_repository import MinedRepository
from sandbox.tasks.seeds.mutations import Change, Mutation

PARTNERS = 12
"""With how many others a place is put together."""

SETS = 2
"""How many sets that a place completes are tried."""


@dataclass(frozen=True, slots=True)
class Noticed:
    """A place, and the tests that fail where nothing else is wrong."""

    mutation: Mutation
    tests: frozenset[str]


class Masks:
    """Puts noticed places together so that each one's tests fail by the others as well."""

    def __init__(self, places: int) -> None:
        """Want so many in a set."""
        self._places = places
        self._known: list[Noticed] = []

    def take(self, new: Noticed) -> Iterator[Defect]:
        """Keep a place; give likely sets with it, those over much of the code first."""
        found = sorted(self._sets(new), key=_spread, reverse=True)
        self._known.append(new)
        for each in found[:SETS]:
            yield tuple(one.mutation for one in each)

    def used(self, defect: Defect) -> None:
        """Forget the places of a set that was kept, so that each seed has its own."""
        self._known = [one for one in self._known if one.mutation not in defect]

    def _sets(self, new: Noticed) -> Iterator[tuple[Noticed, ...]]:
        near = [one.tests for one in self._known if one.tests & new.tests]
        reached = new.tests.union(*near)
        partners = [one for one in self._known if one.tests & reached]
        partners.sort(
            key=lambda one: (not one.tests & new.tests, _is_beside(one, new), len(one.tests))
        )
        for others in itertools.combinations(partners[:PARTNERS], self._places - 1):
            each = (new, *others)
            if _hide_each_other(each) and _fit(each):
                yield each


def stored(mined: MinedRepository) -> Iterator[Noticed]:
    """Give the places of stored seeds that have one alone, and what notices them.

    Those that a seed of several has already are left out.
    """
    sources = {source.path: source for source in mined.sources}
    seeds = mined.folder.seeds.seeds
    taken = {(edit.path, edit.line) for seed in seeds if seed.masking for edit in seed.edits}
    for seed in seeds:
        edit = seed.edits[0]
        if len(seed.edits) == 1 and edit.path in sources and (edit.path, edit.line) not in taken:
            source = sources[edit.path]
            start = len("".join(lines_of(source.data)[: edit.line - 1]).encode())
            change = Change(start, start + len(edit.before.encode()), edit.after)
            function = source.function_at(start)
            place = Mutation(seed.kinds[0], edit.path, function, (change,))
            yield Noticed(place, frozenset(seed.fail_to_pass))


def _hide_each_other(each: tuple[Noticed, ...]) -> bool:
    """Whether every test that fails by one of them fails by another one as well."""
    count: dict[str, int] = {}
    for test in itertools.chain.from_iterable(one.tests for one in each):
        count[test] = count.get(test, 0) + 1
    return min(count.values(), default=0) > 1


def _spread(each: tuple[Noticed, ...]) -> tuple[int, int]:
    """Say over how many files and functions a set reaches."""
    paths = {one.mutation.path for one in each}
    return len(paths), len({(one.mutation.path, one.mutation.function) for one in each})


def _fit(each: tuple[Noticed, ...]) -> bool:
    """Whether a set reaches over several functions, not too many files, and nothing twice."""
    files, functions = _spread(each)
    changes = sorted(
        (one.mutation.path, change.start, change.end)
        for one in each
        for change in one.mutation.changes
    )
    apart = all(
        path != other or end < start
        for (path, _, end), (other, start, _) in itertools.pairwise(changes)
    )
    return apart and files <= FILES and functions > 1


def _is_beside(one: Noticed, other: Noticed) -> bool:
    """Whether two are in one function."""
    first, second = one.mutation, other.mutation
    return (first.path, first.function) == (second.path, second.function)
