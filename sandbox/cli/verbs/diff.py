"""`sandbox diff`: what a run left different in its container's file system."""

from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.terminal import document, line, safe

if TYPE_CHECKING:
    from sandbox.model.change import Change, GitChange


def letter(change: "Change") -> str:
    """`A` added, `D` deleted, `T` another kind of file, `M` modified."""
    if change.before is None:
        return "A"
    if change.after is None:
        return "D"
    return "M" if change.before.kind == change.after.kind else "T"


def row(change: "Change") -> str:
    """One line for one path: what happened, whose it is, where."""
    state = change.after or change.before
    mark = "/" if state and state.kind == "directory" else ""
    extra = ""
    if change.before and change.after:
        if change.before.mode != change.after.mode:
            extra += f"  mode {change.before.mode:o} -> {change.after.mode:o}"
        if (change.before.uid, change.before.gid) != (change.after.uid, change.after.gid):
            extra += f"  owner {change.before.uid} -> {change.after.uid}"
    return f"{letter(change)}  {change.owner:<10}  {line(change.path)}{mark}{extra}"


def git_rows(git: "GitChange") -> list[str]:
    """Lines for what changed in the repository's own state."""
    rows = [
        f"git  commit {commit.id[:12]}  {line(commit.message.partition(chr(10))[0])}"
        for commit in git.commits
    ]
    names = sorted({*git.before.refs, *git.after.refs})
    for name in names:
        before, after = git.before.refs.get(name), git.after.refs.get(name)
        if before != after:
            rows.append(
                f"git  ref {line(name)}  {(before or 'none')[:12]} -> {(after or 'none')[:12]}"
            )
    if git.before.head != git.after.head:
        rows.append(f"git  HEAD  {line(git.before.head)} -> {line(git.after.head)}")
    if git.before.stash != git.after.stash:
        rows.append(f"git  stash  {len(git.before.stash)} -> {len(git.after.stash)} entries")
    rows += [
        f"git  changed  {line(name)}"
        for name in sorted({*git.before.files, *git.after.files})
        if git.before.files.get(name) != git.after.files.get(name)
    ]
    return rows


def diff(
    run: Annotated[str, typer.Argument(help="A run: `last` or the start of its name.")] = "last",
    *,
    patch: Annotated[bool, typer.Option("--patch", help="Show the text that changed.")] = False,
    generated: Annotated[
        bool, typer.Option("--all", help="Also list generated files and git's own.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    runs: RunsOption = None,
) -> None:
    """Show what differs in the container's file system at the end of a run, and whose it is."""
    from sandbox.model.change import ChangeSet, Owner

    folder = open_store(runs).find(run)
    changes = folder.load(folder.changes, ChangeSet)
    if as_json:
        typer.echo(document(changes))
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
