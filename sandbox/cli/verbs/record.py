"""`sandbox record`: write the ids of a task's tests, as the oracle tells them apart."""

from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.options import JsonOption, RunsOption, open_store
from sandbox.cli.terminal import Progress, line
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.cli.output_records import Rerecorded

SHOWN = 10
"""Tests that are shown of each kind."""


def record(
    task: Annotated[
        str,
        typer.Argument(
            help="A task whose file says `tests.recorded`.", autocompletion=completion.tasks
        ),
    ],
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit code 1 where it would differ.")
    ] = False,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Run a task's hidden tests before and after the oracle's change, and write their ids."""
    from sandbox.cli import outputs
    from sandbox.cli.output_records import Rerecorded
    from sandbox.container import engines
    from sandbox.model import places, yaml_tree
    from sandbox.model.run_folder import write_whole
    from sandbox.model.task_tests import RecordedTests
    from sandbox.run import recorded_tests
    from sandbox.tasks import library
    from sandbox.tasks.images import Images

    loaded = library.load_to_record(task)
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
    before = RecordedTests(fail_to_pass=tests.fail_to_pass, pass_to_pass=tests.pass_to_pass)
    same, path = found.tests == before, loaded.folder / name
    written = None if same or check else str(path)
    if written and not (found.tests.fail_to_pass or tests.cases or tests.own):
        raise UsageError(
            f"No test of {task} fails before the fix and passes with it: nothing was written.",
            "A hidden test that shows what is wrong, or a case, has to fail on the task's base.",
        )
    if written:
        write_whole(path, yaml_tree.text(found.tests.model_dump(mode="json")).encode())
    told = Rerecorded(
        task=task, tests=found.tests, before=before, left_out=found.left_out, written=written
    )
    if as_json:
        outputs.write("record", told)
    else:
        _tell(told)
    raise typer.Exit(1 if check and not same else 0)


def _tell(told: "Rerecorded") -> None:
    for kind in ("fail_to_pass", "pass_to_pass"):
        now, then = getattr(told.tests, kind), getattr(told.before, kind)
        typer.echo(f"{kind}: {len(now)}, before {len(then)}")
        _show("+", [test for test in now if test not in then])
        _show("-", [test for test in then if test not in now])
    _show("left out, it does not pass with the oracle's change:", list(told.left_out))
    if told.written:
        typer.echo(f"written to {told.written}")


def _show(mark: str, tests: list[str]) -> None:
    for test in tests[:SHOWN]:
        typer.echo(f"  {mark} {line(test)}")
    if len(tests) > SHOWN:
        typer.echo(f"  {mark} {len(tests) - SHOWN} more")
