"""`git_diff`: what differs from HEAD by git's own account, and whose each path is.

It is what the agent is shown, never evidence: the repository is the agent's to bend.
"""

import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Self

from sandbox.model import path_text as paths
from sandbox.model.action import GitDiff
from sandbox.model.change import Owner
from sandbox.model.observation import DiffedLines, DiffedPath, DiffResult, ErrorCode
from sandbox.model.scopes import owner_of
from sandbox.model.session import AGENT, MEBIBYTE, Completed, FileKind
from sandbox.rules.policy.subject import Subject
from sandbox.run.actions.outcome import Performed, Refusal, done
from sandbox.run.actions.prepared import Prepared
from sandbox.run.actions.shown_differences import line_owners, new_file
from sandbox.run.actions.target import Target
from sandbox.run.actions.workspace import Workspace

OWNERS = {
    Owner.MUST: "yours",
    Owner.MAY: "yours",
    Owner.USER: "user",
    Owner.GENERATED: "generated",
    Owner.NEVER: "forbidden",
    Owner.GIT: "git",
    Owner.COLLATERAL: "unclaimed",
}
"""What the agent is told; which of its paths have to change is for it to find out."""

_GIT = ("git", "--no-optional-locks", "--literal-pathspecs", "-c", "core.fsmonitor=false")
_STATUS = (*_GIT, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignored")
_DIFF = (*_GIT, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD")
_SHOW = (*_GIT, "cat-file", "blob")
_OVERHEAD = 50
CROWD = 50
"""Files of one folder that nobody claims and git does not know: more of them are told as one,
but for those that are new. A checkout may hold `node_modules` that nothing ignores.
"""
IGNORED_MOST = 1000
"""Files that git ignores of which it is looked whether they are new."""

UNTOUCHED = "untouched"
"""Whose a file is that the agent may change, where it stood there, unknown to git, and still does.
It is no work of the agent's, so its text is not shown.
"""

_UNTRACKED, _IGNORED = "??", "!!"


def prepare(action: GitDiff, workspace: Workspace) -> Prepared:
    """Look the path up, if there is one; git itself takes it as it is given."""
    named = () if action.path is None else (Target.of(action.path, workspace).text,)
    return Prepared(Subject(action.name, paths=named), partial(_diff, action))


def _diff(action: GitDiff, workspace: Workspace) -> Performed:
    """Run git as the agent, and add what git does not show."""
    where = () if action.path is None else (workspace.locate(action.path),)
    status = _checked(workspace.run((*_STATUS, "--", *where), limit=MEBIBYTE))
    diff = _checked(workspace.run((*_DIFF, "--", *where)))
    left = workspace.task.limits.observation_bytes
    truncated = _is_cut(status) or _is_cut(diff)
    found: list[DiffedPath] = []
    folders: Counter[tuple[str, Owner]] = Counter()
    new: list[bytes] = []
    looked = 0
    changes = [_Change.of(*each, workspace) for each in _changes(status.stdout)]
    crowded = _crowded(changes, workspace) if action.path is None else {}
    for change in changes:
        letters, path, name, owner = change.letters, change.path, change.name, change.owner
        if letters == _IGNORED:
            looked += 1
            if owner is Owner.GENERATED or looked > IGNORED_MOST or not _is_new(path, workspace):
                continue
        if letters == _UNTRACKED and owner is Owner.GENERATED and action.path is None:
            folders[_generated(name, workspace), owner] += 1
            continue
        if change.is_unclaimed and path not in crowded.get(change.top, {path}):
            folders[f"{change.top}/", owner] += 1
            continue
        left -= len(name.encode()) + _OVERHEAD
        if left < 0:
            truncated = True
            break
        if letters != _UNTRACKED:
            whose = _whose(name, workspace)
            users = bool(whose) and all(each.owner == "user" for each in whose)
            said = OWNERS[Owner.USER if users else owner]
            found.append(DiffedPath(path=name, status=letters, owner=said, lines=whose))
        elif owner in (Owner.MUST, Owner.MAY) and not _is_new(path, workspace):
            found.append(DiffedPath(path=name, status=letters, owner=UNTOUCHED))
        else:
            found.append(DiffedPath(path=name, status=letters, owner=OWNERS[owner]))
            new.append(path)
    found += _told(folders)
    text = diff.stdout.decode("utf-8", "replace")
    added, all_shown = _new_files(new, workspace, len(diff.stdout))
    truncated = truncated or not all_shown
    return done(DiffResult(paths=tuple(found), diff=text + added, truncated=truncated))


@dataclass(frozen=True, slots=True)
class _Change:
    """A row of `git status`."""

    letters: str
    path: bytes
    name: str
    owner: Owner

    @classmethod
    def of(cls, letters: str, path: bytes, workspace: Workspace) -> Self:
        name = paths.text(path)
        owner = owner_of(workspace.task.scope, f"{workspace.root}/{name}", workspace.root)
        return cls(letters, path, name, owner)

    @property
    def top(self) -> str:
        return self.name.partition("/")[0]

    @property
    def is_unclaimed(self) -> bool:
        return self.letters == _UNTRACKED and self.owner is Owner.COLLATERAL and "/" in self.name


def _crowded(changes: list[_Change], workspace: Workspace) -> dict[str, set[bytes]]:
    """Give the folders in which git does not know many files; of each those that are new."""
    counts = Counter(each.top for each in changes if each.is_unclaimed)
    since = f"@{workspace.begun_ns / 1e9:.9f}"
    found = {}
    for top, count in counts.items():
        if count > CROWD:
            look = ("find", f"./{top}", "!", "-type", "d", "-newerct", since, "-print0")
            listed = workspace.run(look, limit=MEBIBYTE).stdout.split(b"\0")
            found[top] = {each.removeprefix(b"./") for each in listed}
    return found


def _generated(name: str, workspace: Workspace) -> str:
    """Give the topmost folder around a generated file that is generated too, or the file."""
    parts = name.split("/")
    for depth in range(1, len(parts)):
        folder = "/".join(parts[:depth])
        scope, absolute = workspace.task.scope, f"{workspace.root}/{folder}"
        if owner_of(scope, absolute, workspace.root) is Owner.GENERATED:
            return f"{folder}/"
    return name


def _told(folders: Counter[tuple[str, Owner]]) -> Iterator[DiffedPath]:
    """Name what is told without its text, each folder once."""
    for (name, owner), count in folders.items():
        files = count if name.endswith("/") else None
        yield DiffedPath(path=name, status=_UNTRACKED, owner=OWNERS[owner], files=files)


def _is_new(path: bytes, workspace: Workspace) -> bool:
    """Whether a file was made or changed since the run began."""
    try:
        entry = workspace.session.stat(path, beneath=workspace.root)
    except OSError:
        return False
    return entry.ctime_ns >= workspace.begun_ns


def _new_files(new: list[bytes], workspace: Workspace, used: int) -> tuple[str, bool]:
    """Give the text of new files as far as it fits, and whether all of it does."""
    left = workspace.task.limits.observation_bytes - used
    shown: list[str] = []
    for path in new:
        name = paths.text(path)
        try:
            entry = workspace.session.stat(path, beneath=workspace.root)
            if entry.kind is not FileKind.FILE:
                continue
            if entry.size > left:
                return "".join(shown), False
            content = workspace.session.read(
                path, beneath=workspace.root, limit=left, user=AGENT, follow=False
            )
        except OSError:
            continue
        text = new_file(name, content, executable=bool(entry.mode & stat.S_IXUSR))
        left -= len(text.encode())
        if left < 0:
            return "".join(shown), False
        shown.append(text)
    return "".join(shown), True


def _whose(name: str, workspace: Workspace) -> tuple[DiffedLines, ...]:
    """Say whose each difference is in a file that the user and the agent share."""
    users = workspace.users_work.get(name)
    if users is None:
        return ()
    head = workspace.run((*_SHOW, f"HEAD:{name}"), limit=MEBIBYTE)
    try:
        now = workspace.session.read(
            paths.raw(name), beneath=workspace.root, limit=MEBIBYTE, user=AGENT, follow=False
        )
    except OSError:
        return ()
    if head.exit_code != 0 or _is_cut(head):
        return ()
    return line_owners(head.stdout.decode("latin-1"), now.decode("latin-1"), users)


def _checked(completed: Completed) -> Completed:
    if completed.timed_out:
        raise Refusal(ErrorCode.TIMEOUT, "git took too long.")
    if completed.exit_code != 0:
        stderr = completed.stderr.decode("utf-8", "replace").strip()
        raise Refusal(ErrorCode.NOT_FOUND, f"git cannot tell what differs: {stderr}")
    return completed


def _is_cut(completed: Completed) -> bool:
    return completed.stdout_bytes > len(completed.stdout)


def _changes(output: bytes) -> Iterator[tuple[str, bytes]]:
    """Read `XY name NUL`, for renames and copies followed by the old name; drop a cut end."""
    fields = iter(output.split(b"\0")[:-1])
    for field in fields:
        letters, name = field[:2].decode("ascii", "replace"), field[3:]
        yield letters, name
        if "R" in letters or "C" in letters:
            next(fields, None)
