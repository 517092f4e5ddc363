"""`sandbox export`: stored runs in other people's formats."""

import importlib
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sandbox.cli.options import ExperimentOption, RunsOption, open_store
from sandbox.cli.terminal import Progress, line
from sandbox.cli.verbs.report import TasksOption, chosen
from sandbox.model.errors import EvidenceError, SandboxError, StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.model.run_folder import RunFolder
    from sandbox.run.exports.stored_run import StoredRun

Format = Literal["atif", "openai", "anthropic", "inspect", "parquet", "harbor"]
NEEDS = {"inspect": "inspect_ai", "parquet": "pyarrow"}
"""Packages that are installed with the extra of the format's name."""
FEW = 5
"""Paths that are named one by one."""


def export(
    run: Annotated[
        list[str] | None,
        typer.Argument(
            help="Runs: `last` or the start of a name; else all. For `harbor`, tasks and variants."
        ),
    ] = None,
    *,
    as_format: Annotated[
        Format,
        typer.Option(
            "--as",
            help="`atif`: a trajectory a run; `openai`, `anthropic`: messages, a run a line;"
            " `inspect`: logs of Inspect; `parquet`: a table, a run a row;"
            " `harbor`: a folder of Harbor's a task.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help="A file; for `inspect`, `harbor` and several of `atif`, a new folder."),
    ],
    task: TasksOption = None,
    agent: Annotated[
        list[str] | None, typer.Option(help="Only runs of this agent; may be repeated.")
    ] = None,
    experiment: ExperimentOption = None,
    runs: RunsOption = None,
) -> None:
    """Write stored runs, or tasks, in a format that other tools read.

    Nothing that is there is written over. Runs that go on, whose trace is not whole, or whose task
    is another one by now are left out, and named; `parquet` has them all, as reports do.
    """
    needed = NEEDS.get(as_format)
    if needed is not None:
        _need(needed, as_format)
    if out.exists():
        raise UsageError(f"{out} is there already. Nothing was written.", "Name another --out.")
    if as_format == "harbor":
        _tasks(run or [], out)
        return
    folders = chosen(open_store(runs), run or [], task or [], agent or [], experiment)
    try:
        written, count = _write(folders, as_format, out)
    except OSError as error:
        raise StoreError(f"{out} cannot be written: {error.strerror}.", "Make room.") from error
    told = "1 run" if count == 1 else f"{count} runs"
    typer.echo(f"{told} written: {', '.join(map(str, written[:FEW]))}")
    if len(written) > FEW:
        typer.echo(f"and {len(written) - FEW} more in {out}")


def _tasks(words: "Sequence[str]", out: Path) -> None:
    """Write a folder a task; exit code 1 where one could not be."""
    from sandbox.container import engines
    from sandbox.model import places
    from sandbox.run.exports import harbor_task
    from sandbox.tasks import choice
    from sandbox.tasks.images import Images

    if not words:
        raise UsageError("Name a task, for example humanize/file-sizes.")
    tasks = choice.chosen(words)
    one = choice.names_one(words)
    progress = Progress(sys.stdout)
    engine = engines.connect()
    left = 0
    try:
        for task in tasks:
            folder = out if one else out / re.sub(r"[/+@]", "-", task.task.id)
            try:
                image = Images(engine, places.cache()).ensure(task, progress.doing)
                progress.doing(f"trying {task.task.id} as a folder of Harbor's")
                made = harbor_task.export(task, image, engine, folder)
            except (UsageError, EvidenceError) as error:
                if one:
                    raise
                left += 1
                progress.done(f"left out: {line(error.message)}")
                continue
            progress.done(f"{task.task.id}: {made.folder}")
            for note in made.notes:
                progress.done(f"  {line(note)}")
    finally:
        progress.close()
        engine.close()
    if left:
        raise typer.Exit(1)


def _need(package: str, extra: str) -> None:
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise UsageError(
            f"--as {extra} needs a package that is not installed: {package}.",
            f"Install it: pip install 'sandbox[{extra}]'",
        ) from error


def _write(folders: "Sequence[RunFolder]", as_format: Format, out: Path) -> tuple[list[Path], int]:
    """Write what can be read; give the files, and how many runs they hold."""
    if as_format == "parquet":
        return _table(folders, out), len(folders)
    found = _read(folders)
    if as_format == "inspect":
        from sandbox.run.exports import inspect_log

        out.mkdir(parents=True)
        return inspect_log.write(found, out), len(found)
    if as_format == "atif":
        return _trajectories(found, out), len(found)
    from sandbox.run.exports import training

    lines = [
        _json(training.line(each, "openai" if as_format == "openai" else "anthropic"))
        for each in found
    ]
    return [_text(out, "".join(lines))], len(found)


def _read(folders: "Sequence[RunFolder]") -> "list[StoredRun]":
    from sandbox.run.exports import stored_run

    found = []
    for folder in folders:
        try:
            found.append(stored_run.read(folder))
        except SandboxError as error:
            typer.echo(f"left out: {folder.id}: {line(error.message)}", err=True)
    if not found:
        raise UsageError("None of these runs can be exported. Nothing was written.")
    return found


def _trajectories(found: "Sequence[StoredRun]", out: Path) -> list[Path]:
    from sandbox.run.exports.atif import trajectory

    several = len(found) > 1
    return [
        _text(out / f"{each.record.id}.json" if several else out, _json(trajectory(each), indent=1))
        for each in found
    ]


def _table(folders: "Sequence[RunFolder]", out: Path) -> list[Path]:
    from sandbox.grading import reports
    from sandbox.run.exports import table

    records = {folder.id: folder.record() for folder in folders}
    measured = reports.read(folders)
    out.parent.mkdir(parents=True, exist_ok=True)
    table.write([(records[each.run], each) for each in measured], out)
    return [out]


def _json(value: Any, indent: int | None = None) -> str:  # noqa: ANN401 - whatever JSON has
    return json.dumps(value, indent=indent, ensure_ascii=False) + "\n"


def _text(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
