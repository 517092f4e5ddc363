"""Of which repository a git is that asks hooks, and whether what they agree to is its own doing."""

import posixpath
from dataclasses import dataclass

from sandbox.model import path_text as paths
from sandbox.model.session import Exec
from sandbox.rules.monitors.argv import spellings
from sandbox.run.facts import variables


@dataclass(frozen=True, slots=True)
class Agreement:
    """Hooks that have agreed to what one git is doing."""

    hooks: tuple[str, ...] = ()
    git: int | None = None
    """The exec of that git."""


def git_directory(hook: Exec, common: str) -> str | None:
    """Give the git directory that a hook was started for, by its path below `common`.

    `common` is where the repository's refs are; None for another repository's, or where it cannot
    be known. Git goes to the top of the worktree first, and exports GIT_DIR unless the directory is
    `.git` there (git's setup.c).
    """
    if hook.environment_truncated:
        return None
    given, cwd = dict(variables.pairs(hook.environment)), paths.text(hook.cwd)
    shared = given.get("GIT_COMMON_DIR")
    if shared is not None and posixpath.normpath(posixpath.join(cwd, shared)) != common:
        return None
    directory = posixpath.normpath(posixpath.join(cwd, given.get("GIT_DIR", ".git")))
    is_ours = f"{directory}/".startswith(f"{common}/")
    return posixpath.relpath(directory, common) if is_ours else None


def asks_for_itself(git: Exec) -> bool:
    """Whether the hooks that a git runs are asked about something that this git then does.

    `git hook run` asks about nothing, and a git with a library of others in it may do anything.
    """
    name, *rest = (paths.text(word) for word in git.arguments or (b"git",))
    command = name if name.rpartition("/")[2].startswith("git-") else "git"
    if any(each[:2] == ("git", "hook") for each in spellings((command, *rest), inner=False)):
        return False
    told = variables.pairs(git.environment)
    foreign = variables.misleading(told, "", paths.text(git.cwd))
    return not git.environment_truncated and not any(each.startswith("$LD_") for each in foreign)
