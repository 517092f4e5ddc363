"""Files that hold work of the user's and of the agent's, read at each place where they stand."""

from collections.abc import Iterable

from sandbox.container.changes.git_files import Files, whole
from sandbox.container.changes.git_history import History
from sandbox.container.changes.git_objects import Objects
from sandbox.model import path_text as paths
from sandbox.model.change import GitChange, GitState, SharedFile

LIMIT = 4 << 20
"""Bytes of one file."""


def users_work(files: Files, shared: Iterable[str]) -> dict[str, str | None]:
    """Read them as they stand in the worktree; GitProblem where one cannot be."""
    return {path: _text(whole(files, paths.raw(path), LIMIT)) for path in shared}


def read(files: Files, git: GitChange, before: dict[str, str | None]) -> tuple[SharedFile, ...]:
    """Read what became of them; `before` is what `users_work` gave. GitProblem."""
    history = History(Objects(files))
    after = users_work(files, before)
    return tuple(
        SharedFile(
            path=path,
            base=_text(history.file(tip(git.before), paths.raw(path))),
            users=users,
            worktree=after[path],
            commits={
                commit.id: _text(history.file(commit.id, paths.raw(path))) for commit in git.commits
            },
        )
        for path, users in before.items()
    )


def tip(state: GitState) -> str:
    """Return the commit that HEAD leads to."""
    return state.refs.get(state.head, state.head)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("latin-1")
