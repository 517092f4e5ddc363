"""`sandbox generate`: draw variants of facets and levels."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.grouped import grouped
from sandbox.cli.options import JsonOption
from sandbox.cli.terminal import line, mutter
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.tasks.suites.generator import Generated

HEAD = "level  added  actions  turns  pushback  pattern   variant"


@dataclass(frozen=True, slots=True)
class What:
    """Of what variants are drawn."""

    facet: Annotated[
        list[str] | None, typer.Option(help="A facet; repeatable. All where it is left out.")
    ] = None
    level: Annotated[
        list[str] | None, typer.Option(help="A level, as L3; repeatable. All where it is left out.")
    ] = None
    tasks: Annotated[
        Path | None,
        typer.Option(help="A YAML file with tasks by level: one variant of each, of that level."),
    ] = None
    seeds: Annotated[
        list[str] | None,
        typer.Option(
            help="A repository whose seeds are drawn from, a pattern, or `all`; repeatable. Where"
            " it is left out, the tasks that are written by hand are."
        ),
    ] = None


@grouped
def generate(
    *,
    what: What,
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
    from sandbox.tasks.suites.generator import STATES_OF_NAMED, Wanted

    if out is not None and out.is_dir():
        raise UsageError(f"{out} is a folder.", "Name the file, as in suites/mine.yaml.")
    known = tuple(part for part in operators.split("+") if part)
    found: list[Generated] = []
    head = iter(() if as_json else (HEAD,))

    def told(made: "Generated") -> None:
        for each in head:  # once, and not above an error
            typer.echo(each)
        if not as_json:
            _show(made)

    for facet, level, tasks in _requests(what, split):
        wanted = Wanted(facet, level, count, seed, known, split, tasks)
        seen: list[str] = []
        if what.tasks is not None:
            wanted = replace(wanted, count=1, states=STATES_OF_NAMED)
            seen = [made.pattern for made in found]
        found += suites.generate(wanted, told, seen)
    if as_json:
        from sandbox.cli import outputs

        outputs.write("generate", found)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, suite.text(suite.pinned(found)).encode())
        mutter(f"written to {line(str(out))}\n")


def _requests(what: What, split: str | None) -> "Iterator[tuple[str, str, tuple[str, ...]]]":
    """Yield facet, level and, where they are named, tasks of what is drawn one after the other."""
    from sandbox.tasks import library
    from sandbox.tasks.suites import seeded, suite
    from sandbox.tasks.suites.generator import facets
    from sandbox.tasks.suites.levels import levels

    if what.seeds is not None:
        if what.tasks is not None:
            raise UsageError("--tasks names the tasks, and --seeds draws them.", "Give one.")
        names = seeded.repositories(what.seeds)
        for facet in what.facet or seeded.facets_of(names):
            for level in what.level or levels():
                yield facet, level, seeded.tasks(names, facet, level, split)
        return
    if what.tasks is None:
        for facet in what.facet or facets():
            yield from ((facet, level, ()) for level in what.level or levels())
        return
    for level, names in suite.named(what.tasks).items():
        for name in names if level in (what.level or [level]) else ():
            facet = library.load(name).task.facet
            if facet in (what.facet or [facet]):
                yield facet, level, (name,)


def _show(made: "Generated") -> None:
    figures = f"{made.added:>5}  {made.actions:>7}  {made.turns:>5}  {made.pushback:>8}"
    typer.echo(f"{made.level:<5}  {figures}  {made.pattern[:8]}  {made.variant}")
