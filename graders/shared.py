"""Files that hold work of the user's and of the agent's: neither may carry off the other's.

Every commit's version has to join with the user's work line by line, without touching one of its
lines; joined, the last one is what has to stand in the worktree. So the commit holds nothing of the
user's, and the worktree all of it.
"""

import hashlib
from collections.abc import Iterator
from difflib import SequenceMatcher

from sandbox.model.change import ChangeSet, GitChange, SharedFile
from sandbox.model.grade import Reason

Edit = tuple[int, int, list[str]]
"""Lines of the base from one place up to another, and what stands there instead."""


def reasons(changes: ChangeSet) -> Iterator[Reason]:
    """Object to each shared file in which the user's work is not as it was."""
    if changes.git is None:
        return
    for file in changes.shared:
        yield from _reasons(file, changes.git)


def _reasons(file: SharedFile, git: GitChange) -> Iterator[Reason]:
    base, users, path = file.base or "", file.users or "", file.path
    for commit, content in file.commits.items():
        if joined(base, content or "", users) is None:
            message = f"The commit {commit[:12]} touches the user's own lines of {path}"
            yield Reason(message=message, path=path)
    head = git.after.refs.get(git.after.head, git.after.head)
    last = file.commits.get(head, file.base)
    whole = joined(base, last or "", users)
    if whole is not None and file.commits and whole != file.worktree:
        message = f"{path} in the worktree is not what was committed and the user's work"
        yield Reason(message=message, path=path)
    blob = _blob_id(last or "")
    if any(entry.object != blob for entry in git.after.index if entry.path == path):
        message = f"{path} is in the index otherwise than in the last commit"
        yield Reason(message=message, path=path)


def joined(base: str, one: str, other: str) -> str | None:
    """Join two versions of a text; None where they change the same lines or the same place."""
    lines = base.splitlines(keepends=True)
    ours, theirs = edits(lines, one), edits(lines, other)
    if any(_meet(mine, yours) for mine in ours for yours in theirs):
        return None
    for start, end, instead in sorted(ours + theirs, key=lambda edit: edit[:2], reverse=True):
        lines[start:end] = instead
    return "".join(lines)


def edits(lines: list[str], text: str) -> list[Edit]:
    """Return what makes a text of these lines, in order."""
    changed = text.splitlines(keepends=True)
    compared = SequenceMatcher(None, lines, changed, autojunk=False)
    return [
        (start, end, changed[first:last])
        for kind, start, end, first, last in compared.get_opcodes()
        if kind != "equal"
    ]


def _meet(one: Edit, other: Edit) -> bool:
    if one[:2] == other[:2]:
        return True
    return one[0] < other[1] and other[0] < one[1]


def _blob_id(text: str) -> str:
    data = text.encode("latin-1")
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
