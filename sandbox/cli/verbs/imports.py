"""`sandbox import`: tasks that people have in other formats."""

import difflib
import itertools
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sandbox.cli.grouped import grouped
from sandbox.cli.options import JsonOption, RunsOption, open_store
from sandbox.cli.terminal import Progress, line
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.model.imported import Imported
    from sandbox.run.imports import Workshop
    from sandbox.tasks.imports.foreign_task import Kind
    from sandbox.tasks.imports.instances import Broken, Instance
    from sandbox.tasks.imports.swebench import Options


PlaceArgument = Annotated[Path, typer.Argument(help="A task's folder, or a folder of such.")]


@dataclass(frozen=True, slots=True)
class FolderOptions:
    """How folders are imported."""

    prefix: Annotated[str, typer.Option(help="What the names of the tasks begin with.")] = ""
    network: Annotated[
        Literal["bridge", "host", "none"],
        typer.Option(
            help="What Dockerfiles may reach: the engine's network, this host's, nothing."
        ),
    ] = "bridge"
    patience: Annotated[
        float, typer.Option(min=1, help="Seconds that a solution, or tests, may take at most.")
    ] = 3600
    as_json: JsonOption = False
    runs: RunsOption = None


@dataclass(frozen=True, slots=True)
class RecordingOptions:
    """What a recording is of, and what its task is called."""

    repository: Annotated[
        str, typer.Option(help="The repository in whose checkout it was made, e.g. humanize.")
    ]
    name: Annotated[
        str | None, typer.Option(help="The task's name; without it that of the file.")
    ] = None
    release: Annotated[
        str | None, typer.Option(help="The release that was checked out; without it the newest.")
    ] = None
    told: Annotated[
        str, typer.Option(help="What the agent is told to do; without it you write it later.")
    ] = ""
    prompt: Annotated[
        str | None, typer.Option(help="A regular expression for the shell's prompt, e.g. '.*\\$ '.")
    ] = None
    place: Annotated[
        str, typer.Option(help="Where the checkout lay, where commands name that folder.")
    ] = ""


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
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Make tasks of instances of SWE-bench and its kin, and try each one.

    An instance is kept where its tests tell the fix from the base commit, its oracle passes and an
    agent that does nothing fails. What could not be kept is said for each (docs/import.md).
    """
    from sandbox.model.imported import Imported
    from sandbox.run.imports import InstanceImporter
    from sandbox.tasks.imports import instances

    if not repositories.is_dir():
        raise UsageError(f"{repositories} is not a folder.", "It holds a clone of each project.")
    good, bad = _chosen(*instances.read(file), instance or [])
    options = needs.options(repositories)
    with _workshop(runs) as (workshop, progress):
        importer = InstanceImporter(workshop, options)
        refused = [
            Imported(instance=each.name, task="", outcome="refused", problems=each.problems)
            for each in bad
        ]
        taken = itertools.chain(refused, map(importer.take, good))
        _told("import swebench", taken, progress, as_json=as_json)


@grouped
def harbor(folder: PlaceArgument, *, options: FolderOptions) -> None:
    """Make tasks of Harbor's folders (`task.toml`), and try each one.

    A task is kept where its own solution passes its own tests, in a container that the solution
    never saw, and an agent that does nothing fails (docs/import.md).
    """
    _folders("harbor", folder, options)


@grouped
def terminal_bench(folder: PlaceArgument, *, options: FolderOptions) -> None:
    """Make tasks of Terminal-Bench's first format (`task.yaml`), and try each one.

    As `sandbox import harbor` does.
    """
    _folders("terminal-bench", folder, options)


@grouped
def recording(
    file: Annotated[Path, typer.Argument(help="What `asciinema rec` wrote.")],
    *,
    options: RecordingOptions,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Make a draft of a task of a recorded terminal: commands, and a check for what they change.

    It is kept where repeating the commands passes, and doing nothing or half of them fails
    (docs/import.md).
    """
    from sandbox.run.imports import RecordingImporter, Wanted
    from sandbox.tasks.authoring import new_repository

    wanted = Wanted(
        file,
        new_repository.folder_of(options.repository),
        options.name or re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-") or "recorded",
        options.release,
        options.told,
        options.prompt,
        options.place,
    )
    with _workshop(runs) as (workshop, progress):
        importer = RecordingImporter(replace(workshop, tasks=wanted.repository.parent))
        _told("import recording", [importer.take(wanted)], progress, as_json=as_json)


def _folders(kind: "Kind", folder: Path, options: FolderOptions) -> None:
    from sandbox.run.imports import FolderImporter, folders_in

    chosen = folders_in(folder, kind)
    with _workshop(options.runs) as (workshop, progress):
        importer = FolderImporter(workshop, kind, options.prefix, options.network, options.patience)
        taken = map(importer.take, chosen)
        _told(f"import {kind}", taken, progress, as_json=options.as_json)


@contextmanager
def _workshop(runs: Path | None) -> "Iterator[tuple[Workshop, Progress]]":
    from sandbox.container import engines
    from sandbox.model import places
    from sandbox.run.imports import Workshop
    from sandbox.tasks.images import Images, package_clients
    from sandbox.tasks.sources import Sources

    with ExitStack() as stack:
        progress = Progress()
        stack.callback(progress.close)
        engine = engines.connect()
        stack.callback(engine.close)
        workshop = Workshop(
            places.new_tasks(),
            Sources(places.cache(), package_clients.provide),
            Images(engine, places.cache()),
            engine,
            open_store(runs).checks,
            progress.doing,
        )
        yield workshop, progress


def _told(verb: str, taken: "Iterable[Imported]", progress: Progress, *, as_json: bool) -> None:
    """Print what became of each as it comes, or all of it as JSON; exit code 1 for a refusal."""
    from sandbox.cli import outputs

    found = []
    for each in taken:
        found.append(each)
        if not as_json:
            progress.close()
            for text in _rows(each):
                typer.echo(text)
    refused = sum(each.outcome == "refused" for each in found)
    if as_json:
        outputs.write(verb, found)
    else:
        typer.echo(f"{len(found) - refused} of {len(found)} are tasks")
    raise typer.Exit(1 if refused else 0)


def _chosen(
    good: "list[Instance]", bad: "list[Broken]", wanted: list[str]
) -> "tuple[list[Instance], list[Broken]]":
    """Give the rows that are wanted, or all."""
    known = {each.instance_id for each in good} | {each.name for each in bad}
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3)
            raise UsageError(
                f"There is no instance {name!r} in the file.",
                f"Did you mean {' or '.join(near)}?" if near else f"It has {len(known)} others.",
            )
    chosen = set(wanted or known)
    found = [each for each in good if each.instance_id in chosen]
    return found, [each for each in bad if each.name in chosen]


def _rows(imported: "Imported") -> Iterator[str]:
    yield f"{imported.instance}: {imported.outcome}" + (
        f", {imported.task}" if imported.outcome != "refused" else ""
    )
    for text in (*imported.problems, *imported.notes):
        yield f"  {line(text)}"
