"""`sandbox estrange`: a repository under names of which nobody remembers anything."""

import secrets
from contextlib import ExitStack
from typing import Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.options import JsonOption
from sandbox.cli.terminal import Progress
from sandbox.model.errors import UsageError


def estrange(
    repository: Annotated[
        str,
        typer.Argument(
            help="A repository with seeds, under upstream's names.",
            autocompletion=completion.repositories,
        ),
    ],
    *,
    as_json: JsonOption = False,
) -> None:
    """Give a repository other names, so that what is remembered of upstream does not help.

    They are put into task_repos/REPOSITORY/estranged; each seed is a task under the new name as
    well (docs/seeds.md). Names under which one of upstream's tests would fail stay as they are.
    """
    from sandbox.cli import made_rows
    from sandbox.cli.output_records import Made
    from sandbox.container import engines
    from sandbox.model import places
    from sandbox.run.mine.estrange import Estranger
    from sandbox.tasks.images import Images, package_clients
    from sandbox.tasks.repos import archive
    from sandbox.tasks.seeds import mined_repository
    from sandbox.tasks.sources import Sources

    cache, progress = places.cache(), Progress()
    with ExitStack() as stack:
        stack.callback(progress.close)
        sources = Sources(cache, package_clients.provide)
        mined = mined_repository.load(repository, sources, progress.doing)
        if mined.folder.renaming.words:
            raise UsageError(
                f"{repository} has other names already: it is {mined.folder.path.name}.",
                f"sandbox estrange {mined.folder.path.name} chooses them anew.",
            )
        passing = frozenset(mined.folder.passing)
        if not passing:
            raise UsageError(
                f"Nothing says which tests of {repository} pass as they are.",
                f"sandbox mine {repository} --check writes them down.",
            )
        engine = engines.connect()
        stack.callback(engine.close)
        image = Images(engine, cache).ensure(mined.task(), progress.doing)
        files = tuple(archive.read(sources.fetch(mined.release.source, progress.doing)))
        run = f"estrange-{secrets.token_hex(4)}"
        estranger = Estranger(mined, files, image, engine, run, progress.doing)
        name, words = estranger.named(passing)
        path = mined.folder.store_names(name, words)
    made = Made(path=str(path), next=(f"sandbox mine {name} --check",))
    made_rows.tell("estrange", made, as_json=as_json)
