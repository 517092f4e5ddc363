"""`sandbox replay`: the same actions again, in a fresh world, and where facts differ."""

from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.options import JsonOption, RunArgument, RunsOption, open_store
from sandbox.cli.terminal import Progress, coloured, line

if TYPE_CHECKING:
    from sandbox.run.replay.differences import Difference
    from sandbox.run.replay.replay import Replayed

MOST = 5
"""Facts of one action that are shown."""


def replay(
    run: RunArgument = "last",
    *,
    times: Annotated[int, typer.Option(min=1, max=1000, help="How often it is done again.")] = 1,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Do a run's actions again in a fresh world and say where its facts differ.

    Exit codes: 0 where facts and verdict are the same each time, 1 where they differ.
    """
    from sandbox.container import engines
    from sandbox.model import places
    from sandbox.run.replay.replay import Recording
    from sandbox.run.trial import Silent
    from sandbox.tasks import library
    from sandbox.tasks.images import Images

    store = open_store(runs)
    folder = store.find(run)
    task = library.load(folder.ended_record().task)
    recording = Recording(folder, task)
    progress = Progress()
    engine = engines.connect()
    try:
        image = Images(engine, places.cache()).ensure(task, progress.doing)
        done = []
        for number in range(1, times + 1):
            progress.doing(f"replay {number} of {times}")
            done.append(recording.again(image, engine, store, Silent()))
    finally:
        progress.close()
        engine.close()
    same = all(each.then == each.now and not each.differences for each in done)
    if as_json:
        from sandbox.cli import outputs
        from sandbox.cli.output_records import ReplayedRun

        again = [
            ReplayedRun(
                run=each.run.id,
                then=each.then,
                now=each.now,
                differences=tuple(each.differences),
            )
            for each in done
        ]
        outputs.write("replay", again)
    else:
        for number, each in enumerate(done, 1):
            for text in rows(number, each):
                typer.echo(text)
    raise typer.Exit(0 if same else 1)


def rows(number: int, done: "Replayed") -> list[str]:
    """Say what came of one replay."""
    changed = "" if done.then == done.now else f", where it was {done.then} then"
    count = len(done.differences)
    actions = "no action differs" if not count else f"{count} actions differ"
    found = [f"{number:>3}  {coloured(str(done.now))}{changed}  {actions}  {done.run.id[:8]}"]
    for each in done.differences:
        found.append(f"     action {each.action}, {line(each.name)}")
        found += _facts(each)
    return found


def _facts(each: "Difference") -> list[str]:
    found = []
    for word, facts in (("then", each.then), ("now", each.now)):
        found += [f"       {word:<4} {line(fact)}" for fact in facts[:MOST]]
        left = len(facts) - MOST
        found += [f"       {word:<4} and {left} more"] if left > 0 else []
    return found
