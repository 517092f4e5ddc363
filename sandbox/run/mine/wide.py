"""Wide seeds: a function's parameters stand in another order, and its calls were left behind.

Each call is tried alone first, and those that no test notices stay as they are: what is asked for
is no more than what tests can tell.
"""

from collections.abc import Iterator
from functools import partial

from sandbox.run.mine.at_once import at_once
from sandbox.run.mine.mine import Miner, Order, Tried, same
from sandbox.tasks.seeds.call_sites import call_sites
from sandbox.tasks.seeds.mutations import Mutation

MOST_CALLS = 24
"""Of how many calls a seed is at most: it holds few of upstream's lines."""


def wide(miner: Miner, order: Order, passing: frozenset[str]) -> Iterator[Tried]:
    """Try the functions with most calls first, until there are enough seeds.

    A seed has `order.places` calls at least; `order.tries` counts functions. Raises as
    `Miner.baseline`.
    """
    kept = {same(seed) for seed in miner.mined.folder.seeds.seeds}
    left = order.count
    matters = partial(miner.matters, passing=passing)
    for places in _likely(miner, order):
        noticed = list(at_once(miner.stop, order.jobs, matters, places))
        calls = tuple(place for place, told in zip(places, noticed, strict=True) if told)
        if len(calls) < order.places:
            yield Tried(calls, None, "too few of a function's calls are noticed")
            continue
        tried = miner.whole(calls[:MOST_CALLS], passing)
        if tried.seed is not None and same(tried.seed) in kept:
            tried = Tried(calls, None, "another seed is the same defect")
        yield tried
        if tried.seed is None:
            continue
        kept.add(same(tried.seed))
        left -= 1
        if left == 0:
            return


def _likely(miner: Miner, order: Order) -> list[list[Mutation]]:
    """Give the calls of each function that has enough of them, those over most files first."""
    found = call_sites(miner.mined.sources).values()
    functions = [places for places in found if len(places) >= order.places]
    functions.sort(key=lambda places: (-len({each.path for each in places}), -len(places)))
    return functions[: order.tries]
