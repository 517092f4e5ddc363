"""The programs that run now, and which hooks git has asked while it made a commit."""

import posixpath
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from sandbox.model import path_text as paths
from sandbox.model.fact import Committed
from sandbox.model.session import Exec, ExecEnd
from sandbox.model.shell.reader import Started
from sandbox.rules.policy import sequencer
from sandbox.rules.policy.sequencer import GIT
from sandbox.run.facts.hooks import (
    Agreement,
    git_directory,
    is_alone,
    is_asked,
    moves_branches,
    started,
)

INTERPRETERS = ("python", "node", "sh", "bash", "dash", "perl")

RUNNING_MOST = 32
"""Programs that are named as running at a moment."""

ASKED = frozenset({"pre-commit", "commit-msg"})
"""Hooks that an ordinary commit runs and that can refuse it: githooks(5)."""

ASKED_BY_MERGE = frozenset({"pre-merge-commit", "commit-msg"})
"""Those that `git merge` runs where it commits by itself."""


@dataclass(slots=True)
class _Hook:
    number: int
    """The exec that it runs: its own, or one that its process went on to."""
    pid: int
    name: str
    git: int
    """The exec of git that started it."""
    directory: str | None
    """The git directory that it was started for."""
    agreed: bool | None = None
    """None while it runs."""
    misled: bool = False
    """Whether a program ran meanwhile that stands in for one of the image's."""


@dataclass(frozen=True, slots=True)
class _Live:
    number: int
    is_git: bool
    """Whether it is a git that may move a branch."""
    asks: bool
    """Whether the hooks that it runs count."""
    asks_none: bool
    """Whether it makes commits for which git asks no hooks."""
    script: str
    parent: int


class Programs:
    """Execs from their start to their end."""

    def __init__(
        self,
        hooks: str,
        executable: Iterable[str],
        intact: Callable[[str], bool],
        stands_in: Callable[[Exec], bool] = lambda _: False,
        *,
        sees: bool = True,
    ) -> None:
        """Know the folder of the hooks, the names of those there, and whether one is untouched.

        `stands_in` is whether a program is run in place of one of the image's.
        `sees` is whether programs below the top level are seen at all.
        """
        self._folder, self._intact, self._stands_in = hooks, intact, stands_in
        there = frozenset(executable)
        self._required, self._by_merge = ASKED & there, ASKED_BY_MERGE & there
        self._live: dict[int, _Live] = {}
        """By process."""
        self._outside: set[int] = set()
        """Processes that start the commands themselves."""
        self._hooks: list[_Hook] = []
        self._made: list[tuple[Committed, int]] = []
        """Commits that hooks agreed to, and the exec of git that they are taken for, which runs."""
        self._agreed_to: set[int] = set()
        """Execs of git to which hooks have agreed."""
        self._in_vain: set[int] = set()
        """Those of them that then failed."""
        self._failed: set[str] = set()
        """Commits that were taken for that of a git which then failed."""
        self.sees = sees

    def seen(self, execution: Exec) -> None:
        """A program starts."""
        path = paths.text(execution.resolved)
        folder, _, name = path.rpartition("/")
        parent = self._live.get(execution.parent)
        running = [hook for hook in self._hooks if hook.agreed is None]
        misled = bool(running) and self._stands_in(execution)
        for hook in running:
            hook.misled |= misled
            if hook.pid == execution.pid:
                hook.number = execution.number  # as a script that ends with `exec`
        # Git starts a hook itself, in a process that has run nothing else: `run-command.c`.
        asked = parent is not None and parent.asks and execution.pid not in self._live
        asked = asked and is_asked(execution, name)
        if parent is not None and asked and folder == self._folder and self._intact(path):
            directory = git_directory(execution, posixpath.dirname(self._folder))
            hook = _Hook(execution.number, execution.pid, name, parent.number, directory)
            self._hooks.append(hook)
        if execution.first:
            self._outside.add(execution.parent)
        is_git = path in GIT and moves_branches(execution)
        asks = is_git and is_alone(execution)
        below = parent is not None and parent.asks_none and execution.pid not in self._live
        self._live[execution.pid] = _Live(
            number=execution.number,
            is_git=is_git,
            asks=asks,
            asks_none=asks and _asks_none(started(execution), below=below),
            script=_script(execution) or path,
            parent=execution.parent,
        )

    def ended(self, execution: Exec, end: ExecEnd) -> tuple[Committed, ...]:
        """A program has ended, or runs another one now.

        Returns the commits that were taken for that of a git which then failed: somebody else had
        moved the branch behind the hooks' back, and git found it moved.
        """
        live = self._live.get(execution.pid)
        if live is not None and live.number == execution.number:
            del self._live[execution.pid]
        for hook in self._hooks:
            if hook.number == execution.number:
                hook.agreed = end.exit_code == 0 and not hook.misled
        over = [commit for commit, git in self._made if git == execution.number]
        self._made = [one for one in self._made if one[1] != execution.number]
        if end.exit_code == 0:
            return ()
        self._in_vain |= {execution.number} & self._agreed_to
        return self._refuted(over)

    def made(self, commit: Committed, agreement: Agreement) -> None:
        """Take a commit for that of the git that hooks agreed to."""
        if commit.hooked and agreement.git in self._numbers:
            self._made.append((commit, agreement.git))

    def moved(self, ref: str, after: str | None, parents: Collection[str]) -> tuple[Committed, ...]:
        """A branch has come to something else, a new commit with these parents or a known one.

        Returns the commits that were taken for that of a git which still runs, and moved it away
        from them: they were not its own.
        """
        kept = {after, *parents}
        return self._not_own(lambda commit: commit.ref == ref and commit.id not in kept)

    def left(self, refs: Collection[str]) -> tuple[Committed, ...]:
        """A HEAD names another branch now than one of these.

        Returns the commits on them that were taken for that of a git which still runs: it commits
        where HEAD is, and moves no HEAD itself.
        """
        return self._not_own(lambda commit: commit.ref in refs)

    def _not_own(self, is_not: Callable[[Committed], bool]) -> tuple[Committed, ...]:
        over = [commit for commit, _ in self._made if is_not(commit)]
        self._made = [one for one in self._made if one[0] not in over]
        return self._refuted(over)

    def _refuted(self, over: Iterable[Committed]) -> tuple[Committed, ...]:
        refuted = tuple(each.model_copy(update={"hooked": False, "hooks": ()}) for each in over)
        self._failed.update(each.id for each in refuted)
        return refuted

    def stands(self, commit: str) -> bool:
        """Whether the git that a commit was taken for has ended well."""
        return commit not in self._failed and all(commit != each.id for each, _ in self._made)

    @property
    def running(self) -> tuple[str, ...]:
        """The scripts that run now, and programs that run none, by absolute path."""
        return tuple(sorted({live.script for live in self._live.values()})[:RUNNING_MOST])

    def take_agreement(self, directories: Collection[str]) -> Agreement:
        """Give the hooks that agreed to what a git, which still runs, is doing now; forget them.

        Those of one git alone, in one of these git directories.
        """
        innermost = self._innermost
        by_git: dict[int, set[str]] = {}
        for hook in self._hooks:
            if hook.agreed and hook.git in innermost and hook.directory in directories:
                by_git.setdefault(hook.git, set()).add(hook.name)
        running = self._numbers
        self._hooks = [
            each
            for each in self._hooks
            if each.git in running and each.directory not in directories
        ]
        if not by_git:
            lives = self._live.values()
            return Agreement(
                unasked=any(live.asks_none for live in lives if live.number in innermost)
            )
        git = max(by_git, key=lambda each: len(by_git[each]))
        self._agreed_to.add(git)
        return Agreement(tuple(sorted(by_git[git])), git)

    def upholds(self, agreement: Agreement) -> bool:
        """Whether the git that hooks agreed to has not failed."""
        return agreement.git not in self._in_vain

    @property
    def _numbers(self) -> frozenset[int]:
        """The execs that run now."""
        return frozenset(live.number for live in self._live.values())

    @property
    def _innermost(self) -> frozenset[int]:
        """The execs of git that run now and wait for no other git."""
        gits = [(pid, live) for pid, live in self._live.items() if live.is_git]
        return frozenset(
            live.number
            for pid, live in gits
            if not any(self._lies_below(other, pid, live) for _, other in gits)
        )

    def _lies_below(self, other: _Live, pid: int, live: _Live) -> bool:
        """Whether a git was started later by what another one runs, or nobody knows by whom.

        That one is what does something now, and the hooks of the other one are not its own.
        """
        if other.number <= live.number:
            return False
        above = other
        while above.parent != pid:
            parent = self._live.get(above.parent)
            if parent is None:
                return above.parent not in self._outside
            above = parent
        return True

    def are_enough(self, agreed: Iterable[str], *, merge: bool) -> bool:
        """Whether these are all that such a commit runs of those that are there."""
        given = frozenset(agreed)
        return given >= self._required or bool(merge and self._by_merge and given >= self._by_merge)


def _asks_none(git: Started, *, below: bool) -> bool:
    """Whether a git asks no hooks for what it commits; `below`: such a one has started it."""
    return sequencer.sequences(git) or (below and sequencer.is_own(git))


def _script(execution: Exec) -> str | None:
    """Give the file that an interpreter is told to run; None where it is told none."""
    program = paths.text(execution.resolved).rpartition("/")[2]
    if not program.startswith(INTERPRETERS):
        return None
    words = [paths.text(word) for word in execution.arguments[1:]]
    for word in words:
        if word in ("-c", "-e", "-m", "-", "--eval", "--print", "-p"):
            return None
        if not word.startswith("-"):
            return posixpath.normpath(posixpath.join(paths.text(execution.cwd), word))
    return None
