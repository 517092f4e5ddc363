"""Commits that git makes by itself while it rebases, picks or reverts: it asks no hooks for them.

Where somebody has to look first (after a conflict, or where messages are put together) it starts
`git commit -n` for it, with words of its own: `run_git_commit` in git's sequencer.c. Who has git do
so has not said that hooks are to be left out.
"""

from dataclasses import replace

from sandbox.model.shell.reader import Started
from sandbox.model.shell.table import shipped
from sandbox.rules.policy.invocation import readings

GIT = frozenset({"/usr/bin/git", "/usr/lib/git-core/git", "/usr/libexec/git-core/git"})
"""Where git is; only root could put something else there."""

COMMANDS = frozenset({"cherry-pick", "rebase", "revert"})

_STARTED = ("commit", "-n")


def sequences(started: Started) -> bool:
    """Whether a program is a git that makes commits so."""
    if started.resolved not in GIT:
        return False
    found = readings(started, shipped(), lambda _: None)
    return bool(found) and all(COMMANDS.intersection(each.arguments[:1]) for each in found)


def is_own(started: Started) -> bool:
    """Whether a program is what such a git starts; its parent has to be one."""
    return started.resolved in GIT and started.words[:2] == _STARTED


def as_asked(started: Started) -> Started:
    """Leave out what nobody but git itself has asked for."""
    return replace(started, words=(_STARTED[0], *started.words[2:]))
