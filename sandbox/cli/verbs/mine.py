"""`sandbox mine`: plant defects in a repository, and keep those that its own tests notice."""

import secrets
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.grouped import grouped
from sandbox.cli.options import JsonOption
from sandbox.cli.terminal import Progress, coloured, line
from sandbox.model.errors import UsageError

OnLine = Callable[[str], None]

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sandbox.cli.output_records import Mined, StoredSeed
    from sandbox.model.seed import Seed
    from sandbox.run.mine import Miner, Order
    from sandbox.tasks.drafts.seed_folder import SeedFolder
    from sandbox.tasks.seeds.mined_repository import MinedRepository


@dataclass(frozen=True, slots=True)
class Draw:
    """What is drawn."""

    count: Annotated[int, typer.Option(min=1, help="How many seeds are wanted.")] = 5
    places: Annotated[int, typer.Option(min=1, max=6, help="Places that each one changes.")] = 1
    masking: Annotated[
        bool, typer.Option("--masking", help="Only where no place shows if it alone is mended.")
    ] = False
    wide: Annotated[
        bool, typer.Option("--wide", help="Only all calls of a function, PLACES and more of them.")
    ] = False
    sanitized: Annotated[
        bool, typer.Option("--sanitized", help="Only what tests notice under sanitizers alone.")
    ] = False
    costs: Annotated[
        bool, typer.Option("--costs", help="Only what tests notice by counting operations.")
    ] = False
    kind: Annotated[
        list[str] | None, typer.Option(help="Only this kind of defect; may be repeated.")
    ] = None
    seed: Annotated[int, typer.Option(help="What the draw begins with.")] = 0
    tries: Annotated[int, typer.Option(min=1, help="Defects that are tried at most.")] = 200


@grouped
def mine(
    repository: Annotated[
        str,
        typer.Argument(
            help="A folder of `task_repos` with a mining.yaml.",
            autocompletion=completion.repositories,
        ),
    ],
    *,
    draw: Draw,
    jobs: Annotated[int, typer.Option(min=1, help="How many are tried at once.")] = 2,
    check: Annotated[
        bool, typer.Option("--check", help="Try the stored seeds again, and add none.")
    ] = False,
    calls: Annotated[
        bool, typer.Option("--calls", help="Record calls for the stored seeds, and add none.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Mine a repository for defects that upstream's own tests notice.

    What is kept is added to task_repos/REPOSITORY/seeds.yaml; docs/seeds.md says what makes a
    seed. Exit codes: 0 as many as were wanted, or all hold; 1 fewer, or one does not hold.
    """
    from sandbox.cli import outputs
    from sandbox.container import engines
    from sandbox.model import places
    from sandbox.run.capacity import Capacity
    from sandbox.run.mine import Miner
    from sandbox.tasks.images import Images, package_clients
    from sandbox.tasks.seeds import mined_repository
    from sandbox.tasks.sources import Sources

    order = _order(draw)
    cache = places.cache()
    progress = Progress()
    with ExitStack() as stack:
        stack.callback(progress.close)
        sources = Sources(cache, package_clients.provide)
        mined = mined_repository.load(repository, sources, progress.doing)
        _fit(mined.folder, repository, draw, check=check)
        _record(mined, calls=calls, check=check)
        engine = engines.connect()
        stack.callback(engine.close)
        image = Images(engine, cache).ensure(mined.task(), progress.doing)
        miner = Miner(mined, image, engine, f"mine-{secrets.token_hex(4)}")
        progress.doing("running upstream's tests without a defect")
        passing = miner.baseline()
        if not mined.folder.renaming.words:
            mined.folder.store_passing(passing)
        tell = _nothing if as_json else typer.echo
        tell(f"{len(passing)} tests pass without a defect")
        at_once, remark = Capacity.of(engine).at_once(jobs, [mined.task().task])
        if remark:
            tell(remark)
        if check or calls:
            tries = _checked(miner, passing, at_once, tell) if check else _recorded(miner, tell)
            checked = list(tries)
            if as_json:
                outputs.write("mine checked", checked)
            raise typer.Exit(0 if all(each.holds for each in checked) else 1)
        if draw.sanitized:
            miner, passing = _under_sanitizers(miner, tell)
        if draw.costs:
            miner = miner.by_costs()
        order = replace(order, jobs=at_once)
        found = _mine(miner, order, passing, (progress.doing, tell))
        if as_json:
            outputs.write("mine mined", found)
    raise typer.Exit(0 if len(found.seeds) >= draw.count else 1)


def _fit(folder: "SeedFolder", repository: str, draw: Draw, *, check: bool) -> None:
    """Refuse what a repository's folder has nothing for, before upstream's tests are run.

    That is trying seeds where there are none, mining it under other names, and mining it under
    sanitizers or for its costs where it does not say how.
    """
    if check and not folder.seeds.seeds:
        raise UsageError(
            f"{repository} has no seeds yet.", f"Mine some: sandbox mine {repository}."
        )
    if folder.renaming.words and not check:
        original = folder.path.name
        raise UsageError(
            f"{repository} is {original} under other names, and its seeds are those of it.",
            f"sandbox mine {original}, or try them under these names: --check.",
        )
    if draw.sanitized:
        folder.under_sanitizers()
    if draw.costs:
        folder.require_costs()


def _record(mined: "MinedRepository", *, calls: bool, check: bool) -> None:
    """Refuse to record calls where that cannot be."""
    from sandbox.run.mine import recordable

    if calls and check:
        raise UsageError("--check tries what is there, and --calls writes.", "Give one of them.")
    if calls and not recordable(mined):
        raise UsageError(
            f"No calls can be recorded in {mined.repository.name}.",
            "They are recorded of tests that pytest runs.",
        )


def _order(draw: Draw) -> "Order":
    """Say what is to be drawn. UsageError where that cannot be."""
    from sandbox.run.mine import Order
    from sandbox.tasks.seeds.mutations import kinds
    from sandbox.tasks.seeds.taken_back import KIND

    if draw.masking and draw.places == 1:
        raise UsageError("One place masks nothing.", "Say how many: --places 3 --masking.")
    if draw.wide and (draw.masking or draw.places == 1):
        raise UsageError(
            "A wide defect is in several calls of one function, which mask nothing.",
            "Say how many at least: --places 4 --wide.",
        )
    known = [KIND, *kinds()]
    for name in draw.kind or ():
        if name not in known:
            raise UsageError(f"There is no kind {name!r}.", f"Kinds: {', '.join(known)}.")
    return Order(
        count=draw.count,
        places=draw.places,
        masking=draw.masking,
        wide=draw.wide,
        kinds=tuple(draw.kind or ()),
        number=draw.seed,
        tries=draw.tries,
    )


def _nothing(text: str) -> None:
    """Tell nothing: all of it stands in the JSON."""


def _mine(
    miner: "Miner", order: "Order", passing: frozenset[str], tell: tuple[OnLine, OnLine]
) -> "Mined":
    """Try defects; each seed is written down as soon as it is one.

    `tell` takes what is being done, and what has been found.
    """
    from sandbox.cli.output_records import Mined
    from sandbox.run.mine import masking, wide

    doing, found = tell
    tries = miner.tried(order, passing)
    if order.masking or order.wide:
        tries = (masking if order.masking else wide)(miner, order, passing)
    seeds: list[Seed] = []
    tried = 0
    why: dict[str, int] = {}
    for each in tries:
        tried += 1
        doing(f"{len(seeds)} of {order.count} seeds, {tried} defects tried")
        if each.seed is None:
            why[each.why.partition(":")[0]] = why.get(each.why.partition(":")[0], 0) + 1
            continue
        seed = miner.with_calls(each.seed)
        miner.mined.folder.store(seed)
        seeds.append(seed)
        found(_described(seed))
    found(f"{len(seeds)} seeds of {tried} defects that were tried")
    why = dict(sorted(why.items(), key=lambda item: -item[1]))
    for reason, number in why.items():
        found(f"  {number:4}  {line(reason)}")
    return Mined(passing=len(passing), tried=tried, seeds=tuple(seeds), refused=why)


def _described(seed: "Seed") -> str:
    figures = seed.figures
    where = ", ".join(sorted({f"{edit.path}:{edit.line}" for edit in seed.edits}))
    far = "no" if figures.distance is None else str(figures.distance)
    return (
        f"{seed.id}  rank {figures.rank}, {figures.failing} of {figures.of} tests fail, "
        f"{far} calls away, {line(where)}"
    )


def _under_sanitizers(miner: "Miner", tell: OnLine) -> tuple["Miner", frozenset[str]]:
    """Give what tries defects there, and the tests that pass there without one."""
    watched = miner.under_sanitizers()
    passing = watched.baseline()
    tell(f"{len(passing)} tests pass under sanitizers")
    return watched, passing


def _recorded(miner: "Miner", tell: OnLine) -> "Iterator[StoredSeed]":
    """Write down for each stored seed which calls tell it."""
    from sandbox.cli.output_records import StoredSeed

    for seed in miner.mined.folder.seeds.seeds:
        told = miner.with_calls(seed)
        miner.mined.folder.store(told)
        why = "" if told.calls else "no recorded call tells it each time"
        tell(f"{coloured('ok ' if told.calls else '-  ')}  {seed.id}  {why or len(told.calls)}")
        yield StoredSeed(seed=seed.id, holds=bool(told.calls), why=why)


def _checked(
    miner: "Miner", passing: frozenset[str], jobs: int, tell: OnLine
) -> "Iterator[StoredSeed]":
    """Try the stored seeds, those that sanitizers alone notice last."""
    seeds = miner.mined.folder.seeds.seeds
    yield from _held(miner, passing, jobs, tell, [each for each in seeds if not each.sanitized])
    if watched := [each for each in seeds if each.sanitized]:
        yield from _held(*_under_sanitizers(miner, tell), jobs, tell, watched)


def _held(
    miner: "Miner", passing: frozenset[str], jobs: int, tell: OnLine, seeds: "Sequence[Seed]"
) -> "Iterator[StoredSeed]":
    from sandbox.cli.output_records import StoredSeed
    from sandbox.run.mine import at_once

    found = at_once(miner.stop, jobs, partial(miner.holds, passing=passing), seeds)
    for seed, why in zip(seeds, found, strict=True):
        tell(f"{coloured('bad' if why else 'ok ')}  {seed.id}  {line(why)}".rstrip())
        yield StoredSeed(seed=seed.id, holds=not why, why=why)
