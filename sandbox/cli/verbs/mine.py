"""`sandbox mine`: plant defects in a repository, and keep those that its own tests notice."""

import secrets
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.terminal import Progress, coloured, line
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.model.seed import Seed
    from sandbox.run.mine import Miner, Order


def mine(
    repository: Annotated[str, typer.Argument(help="A folder of `task_repos` with a mining.yaml.")],
    *,
    count: Annotated[int, typer.Option(min=1, help="How many seeds are wanted.")] = 5,
    places: Annotated[int, typer.Option(min=1, max=4, help="Places that each one changes.")] = 1,
    seed: Annotated[int, typer.Option(help="What the draw begins with.")] = 0,
    tries: Annotated[int, typer.Option(min=1, help="Defects that are tried at most.")] = 200,
    jobs: Annotated[int, typer.Option(min=1, help="How many are tried at once.")] = 2,
    check: Annotated[
        bool, typer.Option("--check", help="Try the stored seeds again, and write nothing.")
    ] = False,
) -> None:
    """Mine a repository for defects that upstream's own tests notice.

    What is kept is added to task_repos/REPOSITORY/seeds.yaml; docs/seeds.md says what makes a
    seed. Exit codes: 0 as many as were wanted, or all hold; 1 fewer, or one does not hold.
    """
    from sandbox.container import engines
    from sandbox.model import places as folders
    from sandbox.run.capacity import Capacity
    from sandbox.run.mine import Miner, Order
    from sandbox.tasks.images import Images, package_clients
    from sandbox.tasks.seeds import mined_repository
    from sandbox.tasks.sources import Sources

    cache = folders.cache()
    progress = Progress()
    with ExitStack() as stack:
        stack.callback(progress.close)
        sources = Sources(cache, package_clients.provide)
        mined = mined_repository.load(repository, sources, progress.doing)
        if check and not mined.seeds.seeds:
            raise UsageError(
                f"{repository} has no seeds yet.", f"Mine some: sandbox mine {repository}."
            )
        engine = engines.connect()
        stack.callback(engine.close)
        image = Images(engine, cache).ensure(mined.task(), progress.doing)
        miner = Miner(mined, image, engine, f"mine-{secrets.token_hex(4)}")
        progress.doing("running upstream's tests without a defect")
        passing = miner.baseline()
        typer.echo(f"{len(passing)} tests pass without a defect")
        if check:
            raise typer.Exit(_check(miner, passing))
        at_once, remark = Capacity.of(engine).at_once(jobs, [mined.task().task])
        if remark:
            typer.echo(remark)
        order = Order(count=count, places=places, number=seed, tries=tries, jobs=at_once)
        found = _mine(miner, order, passing, progress)
    raise typer.Exit(0 if found >= count else 1)


def _mine(miner: "Miner", order: "Order", passing: frozenset[str], progress: Progress) -> int:
    """Try defects; each seed is written down as soon as it is one."""
    found = tried = 0
    why: dict[str, int] = {}
    for each in miner.tried(order, passing):
        tried += 1
        progress.doing(f"{found} of {order.count} seeds, {tried} defects tried")
        if each.seed is None:
            why[each.why.partition(":")[0]] = why.get(each.why.partition(":")[0], 0) + 1
            continue
        found += 1
        miner.mined.store(each.seed)
        typer.echo(_described(each.seed))
    typer.echo(f"{found} seeds of {tried} defects that were tried")
    for reason, number in sorted(why.items(), key=lambda item: -item[1]):
        typer.echo(f"  {number:4}  {line(reason)}")
    return found


def _described(seed: "Seed") -> str:
    figures = seed.figures
    where = ", ".join(sorted({f"{edit.path}:{edit.line}" for edit in seed.edits}))
    far = "no" if figures.distance is None else str(figures.distance)
    return (
        f"{seed.id}  rank {figures.rank}, {figures.failing} of {figures.of} tests fail, "
        f"{far} calls away, {line(where)}"
    )


def _check(miner: "Miner", passing: frozenset[str]) -> int:
    """Try each stored seed; 1 where one does not hold."""
    bad = 0
    for seed in miner.mined.seeds.seeds:
        why = miner.holds(seed, passing)
        bad += bool(why)
        typer.echo(f"{coloured('bad' if why else 'ok ')}  {seed.id}  {line(why)}".rstrip())
    return min(bad, 1)
