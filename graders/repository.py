"""Git's state: what may have moved, and only that."""

from collections.abc import Iterator

from graders import git_folder
from sandbox.model.change import (
    GITLINK,
    WORK,
    ChangeSet,
    Commit,
    GitChange,
    GitState,
    IndexEntry,
    Owner,
)
from sandbox.model.errors import UndecidedError
from sandbox.model.glob import Globs
from sandbox.model.grade import Reason
from sandbox.model.patterns import expression
from sandbox.model.scopes import owner_of
from sandbox.model.task import Task

STASH = "refs/stash"
FREE = (*WORK, Owner.GENERATED)


def reasons(task: Task, changes: ChangeSet) -> Iterator[Reason]:
    """Object to every change of git's state that the task's scope does not allow."""
    git = changes.git
    if git is None:
        problem = changes.git_problem or "no reason is recorded"
        yield Reason(message=f"The repository cannot be read: {problem}", path=".git")
        return
    yield from _head(git)
    yield from _refs(git)
    yield from _branch(git)
    yield from _commits(task, git)
    yield from _index(task, git)
    if git.before.stash != git.after.stash:
        yield Reason(message="The stash is not as it was", path=".git/refs/stash")
    yield from git_folder.reasons(task, git, changes.changes)


def _head(git: GitChange) -> Iterator[Reason]:
    before, after = git.before.head, git.after.head
    if before != after:
        yield Reason(message=f"HEAD was at {before} and is at {after}", path=".git/HEAD")


def _refs(git: GitChange) -> Iterator[Reason]:
    before, after = git.before.refs, git.after.refs
    for name in sorted(before.keys() | after.keys()):
        if name in (git.before.head, STASH) or before.get(name) == after.get(name):
            continue
        done = "was made" if name not in before else "moved" if name in after else "is gone"
        yield Reason(message=f"The ref {name} {done}", path=f".git/{name}")


def _branch(git: GitChange) -> Iterator[Reason]:
    """Object where the branch does not go on from where it was."""
    name = git.before.head
    before, after = git.before.refs.get(name), git.after.refs.get(name)
    if before is None or before == after:
        return
    new = {commit.id: commit for commit in git.commits}
    pending = [] if after is None else [after]
    seen: set[str] = set()
    while pending:
        tip = pending.pop()
        if tip == before:
            return
        if tip in new and tip not in seen:
            seen.add(tip)
            pending.extend(new[tip].parents)
    what = "is gone" if after is None else "was rewritten: its old tip is not below the new one"
    yield Reason(message=f"The branch {name} {what}", path=f".git/{name}")


def _commits(task: Task, git: GitChange) -> Iterator[Reason]:
    rule = task.scope.git
    if rule.commits == "required" and not git.commits:
        yield Reason(message="The work has to be committed and there is no new commit")
    for commit in git.commits:
        label = f"The commit {commit.id[:12]}"
        if rule.commits == "none":
            yield Reason(message=f"{label} was made, and the task allows none")
            continue
        yield from _message(rule.message, commit, label)
        for wanted in rule.messages:
            if path := next(filter(Globs((wanted.path,)).match, commit.paths), None):
                yield from _message(wanted.matches, commit, f"{label}, which changes {path},")
        yield from _committed(task, commit, label)
    if rule.commits == "required" and git.commits:
        yield from _left_out(task, git)
        yield from _undelivered(git)


def _message(pattern: str | None, commit: Commit, label: str) -> Iterator[Reason]:
    """Object to a message that is not as required, or of which that cannot be told."""
    first = commit.message.partition("\n")[0]
    wrong = f"{label} has a message that is not as required: {first!r}"
    try:
        if pattern is not None and not expression(pattern).fullmatch(commit.message.rstrip("\n")):
            yield Reason(message=wrong)
    except UndecidedError as error:
        yield Reason(message=f"{wrong}: {error.message}")


def _committed(task: Task, commit: Commit, label: str) -> Iterator[Reason]:
    for path in commit.paths:
        owner = owner_of(task.scope, f"{task.worktree}/{path}", task.worktree)
        if owner not in WORK:
            yield Reason(message=f"{label} holds {path}, whose owner is {owner}", path=path)


def _left_out(task: Task, git: GitChange) -> Iterator[Reason]:
    """Object to work that has to be committed and is in no commit."""
    committed = {path for commit in git.commits for path in commit.paths}
    for pattern in task.scope.must:
        # What lies outside of the worktree cannot be committed.
        if not pattern.startswith("/") and not any(map(Globs((pattern,)).match, committed)):
            message = f"{pattern}, which has to change, is in no new commit"
            yield Reason(message=message, path=pattern)


def _undelivered(git: GitChange) -> Iterator[Reason]:
    """Object where the worktree, which is tested, is not what was committed."""
    for file in git.delivered:
        if file.committed != file.worktree:
            where = "in the worktree and not in the last commit"
            if file.committed is not None:
                where = "otherwise in the worktree than in the last commit"
            if file.worktree is None:
                where = "in the last commit and not in the worktree"
            message = f"{file.path} is {where}: what is delivered is what was committed"
            yield Reason(message=message, path=file.path)


def _index(task: Task, git: GitChange) -> Iterator[Reason]:
    before, after = _by_path(git.before), _by_path(git.after)
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path, ()), after.get(path, ())
        if old == new:
            continue
        owner = owner_of(task.scope, f"{task.worktree}/{path}", task.worktree)
        if owner not in FREE:
            message = f"{path} is not in the index as it was, and its owner is {owner}"
            yield Reason(message=message, path=path)
        elif _hidden(new) and not _hidden(old):
            message = f"{path} was marked in the index so that git does not see its changes"
            yield Reason(message=message, path=path)
        elif _foreign(new) and not _foreign(old):
            yield Reason(message=f"{path} is another repository in the index", path=path)


def _foreign(entries: tuple[IndexEntry, ...]) -> bool:
    return any(entry.mode == GITLINK for entry in entries)


def _by_path(state: GitState) -> dict[str, tuple[IndexEntry, ...]]:
    entries: dict[str, tuple[IndexEntry, ...]] = {}
    for entry in state.index:
        entries[entry.path] = (*entries.get(entry.path, ()), entry)
    return entries


def _hidden(entries: tuple[IndexEntry, ...]) -> bool:
    return any(entry.assume_unchanged or entry.skip_worktree for entry in entries)
