"""What may be new below `.git`: what an ordinary commit leaves there, and nothing else."""

import re
from collections.abc import Iterator

from sandbox.model.change import Change, FileState, GitChange
from sandbox.model.grade import Reason
from sandbox.model.session import FileKind
from sandbox.model.task import Task

OBJECT = re.compile(r"objects/(?:[0-9a-f]{2}/[0-9a-f]{38}|pack/[^/]+\.(?:pack|idx|rev))")
"""Names that a content has by itself: another content under one of them is a forgery."""

ORDINARY = re.compile(
    # What was begun and not ended by a program that was killed is of no consequence.
    r"objects/(?:[0-9a-f]{2}/|pack/)?tmp_(?:obj|pack|idx|rev)_\w+"
    r"|objects/info/packs|info/refs|COMMIT_EDITMSG|ORIG_HEAD|FETCH_HEAD|AUTO_MERGE|REBASE_HEAD"
    # These are judged by what they say, not as files.
    r"|HEAD|index|packed-refs|refs/.+|logs/.+"
)
LOCK = ".lock"
FOLDERS = re.compile(r"info|(?:objects|refs|logs)(?:/.*)?")
"""Folders that may come and go."""


def reasons(task: Task, git: GitChange, changes: tuple[Change, ...]) -> Iterator[Reason]:
    """Object to each change below `.git` that is not one of an ordinary commit's."""
    folder = f"{task.worktree}/.git/"
    below = {
        change.path.removeprefix(folder): change
        for change in changes
        if change.path.startswith(folder)
    }
    yield from _control(git, below)
    for identity in git.lost or ():
        message = f"The object {identity}, which the repository led to, cannot be read any more"
        yield Reason(message=message, path=".git/objects")
    for name in git.rewritten_logs:
        yield Reason(
            message=f".git/{name} is not what it was with what has happened added",
            path=f".git/{name}",
        )
    named = git.before.files.keys() | git.after.files.keys() | set(git.rewritten_logs)
    for name, change in below.items():
        if name not in named and (wrong := _wrong(name, change, looked=git.lost is not None)):
            yield Reason(message=f".git/{name} {wrong}", path=f".git/{name}")


def _control(git: GitChange, below: dict[str, Change]) -> Iterator[Reason]:
    """Object to changed configuration and hooks; a hook's mode is half of what it does."""
    before, after = git.before.files, git.after.files
    names = before.keys() | after.keys()
    differing = {name for name in names if before.get(name) != after.get(name)}
    differing |= below.keys() & names
    for name in sorted(differing):
        done = "was added" if name not in before else "was changed" if name in after else "is gone"
        yield Reason(message=f".git/{name} {done}", path=f".git/{name}")


def _wrong(name: str, change: Change, *, looked: bool) -> str:
    """Say what is wrong with a change; the empty string where nothing is.

    An object that is gone may have been packed anew: if it was looked for, `lost` tells.
    """
    before, after = change.before, change.after
    if name.endswith(LOCK) and after is not None:
        return "is a lock that was left behind: git refuses to work until it is removed"
    if before and after and (before.kind, _access(before)) != (after.kind, _access(after)):
        return "has another kind, mode or owner"
    if FileKind.DIRECTORY in {state.kind for state in (before, after) if state is not None}:
        return "" if FOLDERS.fullmatch(name) else _done(change)
    if OBJECT.fullmatch(name):
        if before and after:
            return "was overwritten" if _other(before, after) else ""
        return "is gone" if before and not looked else ""
    return "" if ORDINARY.fullmatch(name) else _done(change)


def _access(state: FileState) -> tuple[int, int, int]:
    return state.mode, state.uid, state.gid


def _other(before: FileState, after: FileState) -> bool:
    if before.size != after.size:
        return True
    return before.digest is not None and before.digest != after.digest


def _done(change: Change) -> str:
    if change.before is None:
        return "was added, and an ordinary commit leaves no such thing"
    return "is gone" if change.after is None else "was changed"
