"""`sandbox record`: write the ids of a task's tests, as the oracle tells them apart."""

from typing import Annotated

import typer

from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.terminal import Progress, line
from sandbox.model.errors import UsageError

SHOWN = 10
"""Tests that are shown of each kind."""


def record(
    task: Annotated[str, typer.Argument(help="A task whose file says `tests.recorded`.")],
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit code 1 where it would differ.")
    ] = False,
    runs: RunsOption = None,
) -> None:
    """Run a task's hidden tests before and after the oracle's change, and write their ids."""
    from sandbox.container import engines
    from sandbox.model import places, yaml_tree
    from sandbox.model.run_folder import write_whole
    from sandbox.run import recorded_tests
    from sandbox.tasks import library
    from sandbox.tasks.images import Images

    loaded = library.load(task)
    name = library.recorded(task)
    if name is None:
        raise UsageError(
            f"{task} keeps the ids of its tests in task.yaml itself.",
            "Give it `tests.recorded: tests.yaml`, with the two lists in that file.",
        )
    store = open_store(runs).checks
    progress = Progress()
    engine = engines.connect()
    try:
        image = Images(engine, places.cache()).ensure(loaded, progress.doing)
        found = recorded_tests.record(loaded, image, engine, store, progress.doing)
    finally:
        progress.close()
        engine.close()
    tests = loaded.task.tests
    same = True
    for kind in ("fail_to_pass", "pass_to_pass"):
        now, then = getattr(found.tests, kind), getattr(tests, kind)
        same = same and now == then
        typer.echo(f"{kind}: {len(now)}, before {len(then)}")
        _show("+", [test for test in now if test not in then])
        _show("-", [test for test in then if test not in now])
    _show("left out, it does not pass with the oracle's change:", list(found.left_out))
    if check:
        raise typer.Exit(0 if same else 1)
    if not same:
        path = loaded.folder / name
        write_whole(path, yaml_tree.text(found.tests.model_dump(mode="json")).encode())
        typer.echo(f"written to {path}")


def _show(mark: str, tests: list[str]) -> None:
    for test in tests[:SHOWN]:
        typer.echo(f"  {mark} {line(test)}")
    if len(tests) > SHOWN:
        typer.echo(f"  {mark} {len(tests) - SHOWN} more")
