"""Of which repository a git is that asks hooks, and whether what they agree to is its own doing."""

import posixpath
from dataclasses import dataclass

from sandbox.model import path_text as paths
from sandbox.model.session import Exec
from sandbox.model.shell.reader import Started
from sandbox.model.shell.table import shipped
from sandbox.rules.policy.invocation import readings
from sandbox.rules.policy.reading import only_reads
from sandbox.run.facts import variables


@dataclass(frozen=True, slots=True)
class Agreement:
    """Hooks that have agreed to what one git is doing."""

    hooks: tuple[str, ...] = ()
    git: int | None = None
    """The exec of that git."""
    unasked: bool = False
    """Whether, where there are none, a git is at work that asks none for what it commits."""


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


STILL = frozenset({"gc", "hook", "maintenance", "pack-refs", "repack"})
"""Commands of git that do more than read, and move no branch: git(1)."""

WORDS = {"pre-commit": 1, "pre-merge-commit": 1, "commit-msg": 2}
"""How many words git starts a hook with: githooks(5)."""


def is_asked(hook: Exec, name: str) -> bool:
    """Whether a hook is started as git starts it, and not as an editor or another helper."""
    return hook.argument_count == WORDS.get(name, hook.argument_count)


def started(git: Exec) -> Started:
    """Read what a git was started with; it may go by the name of its sub-command."""
    name, *rest = (paths.text(word) for word in git.arguments or (b"git",))
    command = name if name.rpartition("/")[2].startswith("git-") else "git"
    return Started(command, tuple(rest), resolved=paths.text(git.resolved))


def moves_branches(git: Exec) -> bool:
    """Whether what a git is told to do may move a branch."""
    found = readings(started(git), shipped(), lambda _: None)
    return not all(only_reads(each) or STILL.intersection(each.arguments[:1]) for each in found)


def is_alone(git: Exec) -> bool:
    """Whether a git has its own code alone; with a library of others in it, it may do anything."""
    told = variables.pairs(git.environment)
    foreign = variables.misleading(told, "", paths.text(git.cwd))
    libraries = [each for each in foreign if each.startswith(("$LD_", "$GCONV_PATH", "$LOCPATH"))]
    return not git.environment_truncated and not libraries
