"""`sandbox generate`: draw variants of facets and levels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.options import JsonOption
from sandbox.cli.terminal import line, mutter
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.tasks.suites.generator import Generated

HEAD = "level  added  actions  turns  pushback  pattern   variant"


def generate(
    *,
    facet: Annotated[
        list[str] | None, typer.Option(help="A facet; repeatable. All where it is left out.")
    ] = None,
    level: Annotated[
        list[str] | None, typer.Option(help="A level, as L3; repeatable. All where it is left out.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Variants of each facet at each level.")] = 4,
    seed: Annotated[int, typer.Option(min=0, help="What is drawn depends on it alone.")] = 1,
    operators: Annotated[
        str, typer.Option(help="Operators that every variant has too, as in `far-instructions.4`.")
    ] = "",
    split: Annotated[
        str | None, typer.Option(help="train, dev or test: no graph pattern is in two of them.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A file to write the suite to.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw variants and check them: names, figures, and digests to pin them by."""
    from sandbox.model.run_folder import write_whole
    from sandbox.tasks import suites
    from sandbox.tasks.suites import suite
    from sandbox.tasks.suites.generator import Wanted, facets
    from sandbox.tasks.suites.levels import levels

    if out is not None and out.is_dir():
        raise UsageError(f"{out} is a folder.", "Name the file, as in suites/mine.yaml.")
    known = tuple(part for part in operators.split("+") if part)
    found: list[Generated] = []
    if not as_json:
        typer.echo(HEAD)
    for one in facet or facets():
        for height in level or levels():
            wanted = Wanted(one, height, count, seed, known, split)
            found += suites.generate(wanted, lambda made: None if as_json else _show(made))
    if as_json:
        from sandbox.cli import outputs

        outputs.write("generate", found)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, suite.text(suite.pinned(found)).encode())
        mutter(f"written to {line(str(out))}\n")


def _show(made: "Generated") -> None:
    figures = f"{made.added:>5}  {made.actions:>7}  {made.turns:>5}  {made.pushback:>8}"
    typer.echo(f"{made.level:<5}  {figures}  {made.pattern[:8]}  {made.variant}")
