"""What differs after a run, a line for each path and for each change of git's own state."""

from typing import TYPE_CHECKING

from sandbox.cli.terminal import line

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
