"""Owners of paths."""

import pytest

from sandbox.model.change import Owner
from sandbox.model.scopes import names_below, owner_of
from sandbox.model.task import Scope

WORKTREE = "/home/agent/project"
SCOPE = Scope(
    never=("secret/**", "/etc/**"),
    user=("notes.md",),
    must=("src/*.py",),
    may=("src/**", "notes.md", ".git/info/exclude"),
    generated=("**/__pycache__/**", "/home/agent/.cache/**"),
)


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        (f"{WORKTREE}/secret/key", Owner.NEVER),
        ("/etc/passwd", Owner.NEVER),
        (f"{WORKTREE}/notes.md", Owner.USER),
        (f"{WORKTREE}/src/a.py", Owner.MUST),
        (f"{WORKTREE}/src/deep/a.py", Owner.MAY),
        (f"{WORKTREE}/a/__pycache__/b.pyc", Owner.GENERATED),
        ("/home/agent/.cache/pip/x", Owner.GENERATED),
        (f"{WORKTREE}/.git", Owner.GIT),
        (f"{WORKTREE}/.git/HEAD", Owner.GIT),
        (f"{WORKTREE}/.git/info/exclude", Owner.MAY),
        (f"{WORKTREE}/.gitignore", Owner.COLLATERAL),
        (f"{WORKTREE}2/src/a.py", Owner.COLLATERAL),
        ("/src/a.py", Owner.COLLATERAL),
        (WORKTREE, Owner.COLLATERAL),
    ],
)
def test_the_first_list_that_matches_decides(path: str, owner: Owner) -> None:
    assert owner_of(SCOPE, path, WORKTREE) == owner
    assert owner_of(SCOPE, path, WORKTREE + "/") == owner


def test_a_glob_over_the_checkout_is_not_about_what_git_keeps_there() -> None:
    scope = Scope(may=("**",), generated=("/*", "/*/**"))
    assert owner_of(scope, f"{WORKTREE}/src/a.py", WORKTREE) == Owner.MAY
    assert owner_of(scope, f"{WORKTREE}/.gitignore", WORKTREE) == Owner.MAY
    assert owner_of(scope, f"{WORKTREE}/.git/HEAD", WORKTREE) == Owner.GIT
    assert owner_of(scope, "/etc/passwd", WORKTREE) == Owner.GENERATED


def test_paths_must_be_absolute() -> None:
    with pytest.raises(ValueError, match="not an absolute path: 'src"):
        owner_of(SCOPE, "src/a.py", WORKTREE)
    with pytest.raises(ValueError, match="project"):
        owner_of(SCOPE, "/src/a.py", "project")


def test_a_folder_is_named_below_by_what_a_list_begins_with() -> None:
    assert names_below(SCOPE, WORKTREE, WORKTREE)
    assert names_below(SCOPE, f"{WORKTREE}/src", WORKTREE)
    assert names_below(SCOPE, "/etc", WORKTREE)
    assert not names_below(SCOPE, "/home/agent/.cache", WORKTREE)
    assert not names_below(SCOPE, f"{WORKTREE}/node_modules", WORKTREE)
    assert not names_below(SCOPE, f"{WORKTREE}/sr", WORKTREE)
