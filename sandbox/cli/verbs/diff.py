"""`sandbox diff`: what a run left different in its container's file system."""

from typing import Annotated

import typer

from sandbox.cli.change_rows import git_rows, row
from sandbox.cli.options import JsonOption, RunArgument, RunsOption, open_store
from sandbox.cli.terminal import line, safe


def diff(
    run: RunArgument = "last",
    *,
    patch: Annotated[bool, typer.Option("--patch", help="Show the text that changed.")] = False,
    generated: Annotated[
        bool, typer.Option("--all", help="Also list generated files and git's own.")
    ] = False,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Show what differs in the container's file system at the end of a run, and whose it is."""
    from sandbox.model.change import ChangeSet, Owner

    folder = open_store(runs).find(run)
    folder.ended_record()  # before that there is no difference
    changes = folder.load(folder.changes, ChangeSet)
    if as_json:
        from sandbox.cli import outputs

        outputs.write("diff", changes)
        return
    if patch:
        typer.echo(safe(folder.text(folder.patch)), nl=False)
        return
    quiet = () if generated else (Owner.GENERATED, Owner.GIT)
    shown = [change for change in changes.changes if change.owner not in quiet]
    for change in shown:
        typer.echo(row(change))
    for each in changes.unlisted:
        typer.echo(
            f"?  {each.owner:<10}  {line(each.path)}/: {each.entries} entries below are not listed"
        )
    if changes.git:
        for text in git_rows(changes.git):
            typer.echo(text)
    else:
        typer.echo(f"git  {line(changes.git_problem)}")
    hidden = len(changes.changes) - len(shown)
    typer.echo(
        f"{len(shown)} paths differ" + (f"; {hidden} generated ones with --all" if hidden else "")
    )
