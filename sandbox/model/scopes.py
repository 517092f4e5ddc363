"""Whose a path is, by a task's scope."""

from functools import lru_cache

from sandbox.model.change import WORK, Owner
from sandbox.model.glob import Globs
from sandbox.model.task import Scope


def owner_of(scope: Scope, path: str, worktree: str) -> Owner:
    """Return who owns an absolute path of the container; `worktree` is absolute too."""
    absolute = path.startswith("/")
    if not absolute or not worktree.startswith("/"):
        raise ValueError(f"not an absolute path: {worktree if absolute else path!r}")
    base = worktree.rstrip("/") + "/"
    inside = path.removeprefix(base) if path.startswith(base) else None
    git = inside is not None and (inside == ".git" or inside.startswith(".git/"))
    for owner, relative, rooted in _compiled(scope, git):
        if rooted.match(path) or (inside and relative.match(inside)):
            return owner
    if git:
        return Owner.GIT
    return Owner.COLLATERAL


def names_below(scope: Scope, folder: str, worktree: str) -> bool:
    """Whether a pattern that is not about generated files begins with a name below a folder."""
    base = worktree.rstrip("/") + "/"
    return any(
        (pattern if pattern.startswith("/") else base + pattern).startswith(folder + "/")
        for owner, patterns in scope.lists()
        if owner is not Owner.GENERATED
        for pattern in patterns
    )


@lru_cache(maxsize=32)
def _compiled(scope: Scope, git: bool) -> tuple[tuple[Owner, Globs, Globs], ...]:  # noqa: FBT001
    """Return each owner with its globs below the worktree and its absolute ones.

    What git keeps there is free to change, or not looked at, only by patterns that say so: `**`
    does not.
    """
    free = (*WORK, Owner.GENERATED)
    lists = [
        (owner, [each for each in patterns if not git or owner not in free or ".git" in each])
        for owner, patterns in scope.lists()
    ]
    return tuple(
        (
            owner,
            Globs(pattern for pattern in patterns if not pattern.startswith("/")),
            Globs(pattern for pattern in patterns if pattern.startswith("/")),
        )
        for owner, patterns in lists
        if patterns
    )
