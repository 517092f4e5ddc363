"""`sandbox new`: a repository from its releases, and a task from a defect or a run."""

import secrets
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.grouped import grouped
from sandbox.cli.options import JsonOption, RunsOption, open_store
from sandbox.cli.terminal import Progress, line
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.cli.output_records import Made
    from sandbox.tasks.sources import Sources

RELEASES = 8


@dataclass(frozen=True, slots=True)
class Taken:
    """What a new repository takes from its origin."""

    releases: Annotated[
        int, typer.Option(min=1, max=100, help="How many releases, the newest ones.")
    ] = RELEASES
    requires: Annotated[
        list[str] | None,
        typer.Option(help="A package that the tests need, for its client; may be repeated."),
    ] = None
    like: Annotated[
        str | None, typer.Option(help="Take what the tests need from this repository.")
    ] = None


@grouped
def new(
    name: Annotated[str, typer.Argument(metavar="REPO[/TASK]", help="What is to be made.")],
    *,
    origin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="WHERE",
            help="The repository's releases: pypi:NAME, npm:NAME, debian:SOURCE@SUITE, or "
            "git:FOLDER[@COMMIT].",
        ),
    ] = None,
    taken: Taken,
    defect_from: Annotated[
        Path | None, typer.Option(help="The task's defect: a checkout in which files were broken.")
    ] = None,
    oracle_from: Annotated[
        str | None, typer.Option(help="The task's oracle: a run that passed, of any other task.")
    ] = None,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Make a repository of `task_repos`, or a task of one.

    With --from, REPO gets a repo.yaml with pins, dates and requirements, and a mining.yaml with
    where its code and tests lie. With --defect-from, the broken files are tried in containers, and
    REPO/TASK gets them as its defect, with the ids of the tests, scope, oracle and plan.
    """
    repository, _, task = name.partition("/")
    made_of_one = (defect_from is None) is not (oracle_from is None)
    if bool(task) is (origin is not None) or made_of_one is not bool(task):
        raise UsageError(
            "A repository is made from releases, a task from a defect or a run.",
            "sandbox new REPO --from pypi:NAME, then sandbox new REPO/TASK --defect-from FOLDER.",
        )
    from sandbox.cli import made_rows

    progress = Progress()
    with ExitStack() as stack:
        stack.callback(progress.close)
        if origin is not None:
            made = _repository(repository, origin, taken, progress.doing)
        elif defect_from is not None:
            made = _task(repository, task, defect_from, progress.doing)
        else:
            made = _harvested(repository, task, str(oracle_from), runs)
    made_rows.tell("new", made, as_json=as_json)


def _repository(name: str, where: str, taken: Taken, on_line: Callable[[str], None]) -> "Made":
    from sandbox.cli.output_records import Made
    from sandbox.model import places
    from sandbox.tasks.authoring import new_repository, origin

    like = taken.like
    if like and taken.requires:
        raise UsageError("--like takes what another repository needs.", "Leave --requires out.")
    made = new_repository.make(
        new_repository.Wanted(
            name,
            origin.parse(where),
            taken.releases,
            tuple(taken.requires or ()),
            like=new_repository.known(like) if like else None,
        ),
        places.new_tasks(),
        _sources(),
        on_line,
    )
    found = made.repository
    counted = f"releases: {len(found.releases)}, requirements: {len(found.requirements)}"
    steps = (
        (f"sandbox mine {name}", f"or sandbox new {name}/TASK --defect-from FOLDER")
        if made.minable
        else ("write a task (docs/write-a-task.md)",)
    )
    return Made(
        path=str(made.folder), told=counted, notes=made.notes, next=("read it through", *steps)
    )


def _task(name: str, task: str, broken: Path, on_line: Callable[[str], None]) -> "Made":
    from sandbox.cli.output_records import Made
    from sandbox.container import engines
    from sandbox.model import places
    from sandbox.run.mine import Miner
    from sandbox.tasks.drafts import planting
    from sandbox.tasks.images import Images
    from sandbox.tasks.seeds import broken_files, mined_repository

    mined = mined_repository.load(name, _sources(), on_line)
    folder = mined.folder.path / task
    if folder.exists():
        raise UsageError(f"{folder} is there already.", "Choose another name, or remove it.")
    files = broken_files.read(mined, broken)
    with ExitStack() as stack:
        engine = engines.connect()
        stack.callback(engine.close)
        image = Images(engine, places.cache()).ensure(mined.task(), on_line)
        miner = Miner(mined, image, engine, f"new-{secrets.token_hex(4)}")
        on_line("running the tests without the defect")
        passing = miner.baseline()
        on_line("running the tests with it")
        tried = miner.by_hand(files, passing)
    if tried.seed is None:
        raise UsageError(
            f"{broken} makes no task: {tried.why}.",
            "Some of the repository's own tests have to fail with it, and most to pass.",
        )
    planting.plant(mined.folder, tried.seed, "bare", folder, passing)
    failing = f"{len(tried.seed.fail_to_pass)} of {len(passing)} tests fail"
    told = f"{failing} with the defect in {', '.join(map(line, sorted(files)))}"
    steps = (f"sandbox check {name}/{task}", f"sandbox validate {name}/{task}")
    return Made(path=str(folder), told=told, next=steps)


def _harvested(name: str, task: str, run: str, runs: Path | None) -> "Made":
    from sandbox.cli.output_records import Made
    from sandbox.run import harvest
    from sandbox.tasks import harvested, library

    folder = open_store(runs).find(run)
    loaded = library.load(folder.record().task)
    if loaded.repository.name != name:
        raise UsageError(
            f"Run {folder.id[:8]} is of {loaded.task.id}, which is not of {name}.",
            f"sandbox new {loaded.repository.name}/{task} --oracle-from {run}.",
        )
    deeds = harvest.deeds(folder, loaded)
    if not deeds.passed:
        raise UsageError(
            f"Run {folder.id[:8]} failed; an oracle is a run that passed.",
            f"sandbox harvest {run} {task} makes a task that refuses it.",
        )
    made = harvested.harvest(loaded, deeds, task)
    return Made(path=str(made), next=(f"sandbox validate {name}/{task} --only oracle",))


def _sources() -> "Sources":
    from sandbox.model import places
    from sandbox.tasks.images import package_clients
    from sandbox.tasks.sources import Sources

    return Sources(places.cache(), package_clients.provide)
