"""`sandbox plant`: a task's folder from a seed."""

import difflib
from typing import Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.options import JsonOption
from sandbox.model.draft import Draft
from sandbox.model.errors import UsageError


def plant(
    repository: Annotated[
        str, typer.Argument(help="A repository with seeds.", autocompletion=completion.repositories)
    ],
    seed: Annotated[str, typer.Argument(help="The id of a seed in its seeds.yaml.")],
    name: Annotated[str, typer.Argument(help="What the task is to be called.")],
    *,
    draft: Annotated[
        Draft,
        typer.Option(help="`bare`, or a ticket of one of the facets (docs/seeds.md)."),
    ] = "bare",
    as_json: JsonOption = False,
) -> None:
    """Make a task of a seed: its defect, its oracle, and a prompt that gives nothing away.

    The folder task_repos/REPOSITORY/NAME is a draft that holds as it is; where nothing says which
    tests keep passing, `sandbox record` adds them. Operators make it harder. A seed is a task as
    well without a folder, by its name (docs/seeds.md).
    """
    from sandbox.cli import made_rows
    from sandbox.cli.output_records import Made
    from sandbox.tasks.drafts import planting, seed_folder

    found = seed_folder.load(repository)
    if found.renaming.words:
        raise UsageError(
            f"{repository} is {found.path.name} under other names: its tasks need no folder.",
            "docs/seeds.md says how they are called.",
        )
    known = {each.id: each for each in found.seeds.seeds}
    if seed not in known:
        near = difflib.get_close_matches(seed, known, n=3, cutoff=0.4)
        raise UsageError(
            f"{repository} has no seed {seed!r}.",
            f"Did you mean {' or '.join(near)}?" if near else f"`sandbox mine {repository}`.",
        )
    folder, passing = found.path / name, found.passing
    planting.plant(found, known[seed], draft, folder, passing)
    task = f"{repository}/{name}"
    verbs = ("check", "validate") if passing else ("record", "check", "validate")
    steps = tuple(f"sandbox {verb} {task}" for verb in verbs)
    made_rows.tell("plant", Made(path=str(folder), next=steps), as_json=as_json)
