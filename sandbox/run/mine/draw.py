"""Which defects are tried, and in which order: drawn from a number, kinds taking turns."""

import itertools
import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from sandbox.tasks.seeds.languages import parsed
from sandbox.tasks.seeds.mined_repository import MinedRepository
from sandbox.tasks.seeds.mutations import Mutation, mutations
from sandbox.tasks.seeds.taken_back import taken_back

FILES = 3
"""Over how many files a defect of several places may reach."""

Defect = tuple[Mutation, ...]


def candidates(mined: MinedRepository, kinds: Collection[str] = ()) -> list[Mutation]:
    """Give every place of these kinds in a repository; of every kind where none is given."""
    found: list[Mutation] = []
    _, before = mined.older[0] if mined.older else ("", {})
    for source in mined.sources:
        found += mutations(source)
        was = before.get(source.path)
        if was is not None and parsed(source.path, was) is not None:
            found += taken_back(was, source)
    return [mutation for mutation in found if not kinds or mutation.kind in kinds]


def drawn(found: Iterable[Mutation], places: int, seed: int) -> Iterator[Defect]:
    """Yield defects of so many places each, the same for the same seed.

    Kinds take turns, so that a rare one is tried as early as a frequent one; the places of a
    defect are in different functions, and in at most three files.
    """
    chance = random.Random(seed)  # noqa: S311 - drawn again from the same number
    by_kind: dict[str, list[Mutation]] = defaultdict(list)
    for mutation in found:
        by_kind[mutation.kind].append(mutation)
    for kind in by_kind.values():
        chance.shuffle(kind)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*by_kind.values()))
    one_by_one = [mutation for mutation in turns if mutation is not None]
    if places == 1:
        yield from ((mutation,) for mutation in one_by_one)
        return
    for first in one_by_one:
        defect = [first]
        for other in chance.sample(one_by_one, len(one_by_one)):
            if _fits(other, defect):
                defect.append(other)
            if len(defect) == places:
                yield tuple(defect)
                break


def _fits(other: Mutation, defect: list[Mutation]) -> bool:
    if any((each.path, each.function) == (other.path, other.function) for each in defect):
        return False
    return len({other.path, *(each.path for each in defect)}) <= FILES
