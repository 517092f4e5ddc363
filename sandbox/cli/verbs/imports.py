"""`sandbox import`: tasks that people have in other formats."""

import difflib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.grouped import grouped
from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.terminal import Progress, line
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.model.imported import Imported
    from sandbox.tasks.imports.instances import Instance
    from sandbox.tasks.imports.swebench import Options


@dataclass(frozen=True, slots=True)
class Needs:
    """What the tests of imported projects need besides them."""

    requires: Annotated[
        list[str] | None,
        typer.Option(help="A package in the place of what the project says that it needs."),
    ] = None
    constraint: Annotated[
        list[str] | None, typer.Option(help="What a package has to be, e.g. 'werkzeug<3'.")
    ] = None
    like: Annotated[
        str | None, typer.Option(help="Take what the tests need from this repository.")
    ] = None
    releases: Annotated[
        int, typer.Option(min=1, max=100, help="Commits of the history: the base, tags before it.")
    ] = 1

    def options(self, repositories: Path) -> "Options":
        """Give them with the folder of clones; UsageError where they contradict each other."""
        from sandbox.tasks.authoring import new_repository
        from sandbox.tasks.imports.swebench import Options

        if self.like and (self.requires or self.constraint):
            raise UsageError(
                "--like takes what another repository needs, as it is.",
                "Leave --requires and --constraint out.",
            )
        return Options(
            repositories,
            self.releases,
            tuple(self.requires or ()),
            tuple(self.constraint or ()),
            new_repository.known(self.like) if self.like else None,
        )


def about() -> None:
    """Make tasks of what people have in other formats."""


@grouped
def swebench(
    file: Annotated[
        Path, typer.Argument(help="Instances as JSON lines: SWE-bench, SWE-Gym, Pro, SWE-smith.")
    ],
    *,
    repositories: Annotated[
        Path, typer.Option(help="A folder with a git clone or bundle of each project.")
    ],
    instance: Annotated[
        list[str] | None, typer.Option(help="An instance's id; may be repeated. Without it, all.")
    ] = None,
    needs: Needs,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    runs: RunsOption = None,
) -> None:
    """Make tasks of instances of SWE-bench and its kin, and try each one.

    An instance is kept where its tests tell the fix from the base commit, its oracle passes and an
    agent that does nothing fails. What could not be kept is said for each (docs/import.md).
    """
    from sandbox.cli import outputs
    from sandbox.container import engines
    from sandbox.model import places
    from sandbox.run.imports import Importer
    from sandbox.tasks.images import Images, package_clients
    from sandbox.tasks.imports import instances
    from sandbox.tasks.sources import Sources

    if not repositories.is_dir():
        raise UsageError(f"{repositories} is not a folder.", "It holds a clone of each project.")
    chosen = _chosen(instances.read(file), instance or [])
    options = needs.options(repositories)
    found = []
    with ExitStack() as stack:
        progress = Progress()
        stack.callback(progress.close)
        engine = engines.connect()
        stack.callback(engine.close)
        importer = Importer(
            options,
            places.new_tasks(),
            Sources(places.cache(), package_clients.provide),
            Images(engine, places.cache()),
            engine,
            open_store(runs).checks,
            progress.doing,
        )
        for each in chosen:
            found.append(importer.take(each))
            if not as_json:
                progress.close()
                for text in _rows(found[-1]):
                    typer.echo(text)
    if as_json:
        outputs.write("import swebench", found)
    refused = sum(each.outcome == "refused" for each in found)
    if not as_json:
        typer.echo(f"{len(found) - refused} of {len(found)} instances are tasks")
    raise typer.Exit(1 if refused else 0)


def _chosen(found: "list[Instance]", wanted: list[str]) -> "list[Instance]":
    known = {each.instance_id: each for each in found}
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3)
            raise UsageError(
                f"There is no instance {name!r} in the file.",
                f"Did you mean {' or '.join(near)}?" if near else f"It has {len(known)} others.",
            )
    return [known[name] for name in dict.fromkeys(wanted)] if wanted else found


def _rows(imported: "Imported") -> Iterator[str]:
    yield f"{imported.instance}: {imported.outcome}" + (
        f", {imported.task}" if imported.outcome != "refused" else ""
    )
    for text in (*imported.problems, *imported.notes):
        yield f"  {line(text)}"
