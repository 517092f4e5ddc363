"""Seeds whose places mask each other: whoever mends one of them alone sees the same tests fail.

What each place does by itself is tried once, or known from a seed of that place; sets of which
every failing test has two causes are then tried whole, and with each place mended alone.
"""

import itertools
from collections.abc import Iterator
from functools import partial

from sandbox.model.seed import Seed
from sandbox.run.mine.at_once import at_once
from sandbox.run.mine.draw import Defect, candidates, drawn
from sandbox.run.mine.masks import Masks, Noticed, stored
from sandbox.run.mine.mine import Miner, Order, Same, Tried, same
from sandbox.tasks.seeds.mutations import Mutation

APART = "others that mask it are looked for"
"""What becomes of a place that a test notices."""


def masking(miner: Miner, order: Order, passing: frozenset[str]) -> Iterator[Tried]:
    """Try places in the order in which they are drawn, until there are enough seeds of several.

    `order.tries` counts places. Raises as `Miner.baseline`.
    """
    masks = Masks(order.places)
    kept = {same(seed) for seed in miner.mined.folder.seeds.seeds}
    left = order.count
    for found in itertools.chain(stored(miner.mined), _drawn(miner, order, passing)):
        if isinstance(found, Tried):
            yield found
            continue
        for defect in masks.take(found):
            tried = _together(miner, passing, kept, defect)
            yield tried
            if tried.seed is None:
                continue
            kept.add(same(tried.seed))
            masks.used(defect)
            left -= 1
            if left == 0:
                return
            break


def _drawn(miner: Miner, order: Order, passing: frozenset[str]) -> Iterator[Noticed | Tried]:
    """Try places alone, some at once, in the order in which they are drawn."""
    found = candidates(miner.mined, order.kinds)
    places = itertools.islice(drawn(found, 1, order.number), order.tries)
    while some := list(itertools.islice(places, order.jobs)):
        noticed = at_once(miner.stop, order.jobs, partial(_alone, miner, passing), some)
        for (place,), tests in zip(some, noticed, strict=True):
            if isinstance(tests, str):
                yield Tried((place,), None, tests)
            else:
                yield Tried((place,), None, APART)
                yield Noticed(place, tests)


def _alone(
    miner: Miner, passing: frozenset[str], place: tuple[Mutation, ...]
) -> frozenset[str] | str:
    """Give the tests that fail by a place alone; or why it is of no use."""
    files = miner.planted(place)
    if isinstance(files, str):
        return files
    failing, why = miner.failing(files, passing)
    return why or frozenset(failing)


def _together(miner: Miner, passing: frozenset[str], kept: set[Same], defect: Defect) -> Tried:
    tried = miner.whole(defect, passing)
    if tried.seed is None:
        return tried
    seed: Seed = tried.seed.model_copy(update={"masking": True})
    if same(seed) in kept:
        return Tried(defect, None, "another seed is the same defect")
    if len(seed.edits) != len(defect):
        return Tried(defect, None, "its places run into each other")
    if shown := miner.shown(seed, passing):
        return Tried(defect, None, f"a place shows when it is mended alone: {shown}")
    return Tried(defect, seed)
