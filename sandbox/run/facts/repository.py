"""What became of the repository: refs, commits, stash and index, read from `.git` as data."""

import hashlib
import re
from collections.abc import Iterator

from sandbox.container.changes import git
from sandbox.container.changes.git_files import Files, GitProblem
from sandbox.container.changes.git_history import History
from sandbox.container.changes.git_objects import Objects
from sandbox.model import path_text as paths
from sandbox.model.change import Commit
from sandbox.model.fact import Committed, Fact, FactsLost, IndexChanged, RefMoved, Stashed
from sandbox.model.session import Touch, TouchKind
from sandbox.run.facts.programs import Programs

_ID = re.compile(rb"([0-9a-f]{40})\n?")
FILES_TOLD = 200
"""Paths of a commit of which it is told what they hold, where there are no more."""
FILES_BYTES = 4 << 20
"""Bytes of all of them together."""
UNREAD = 16
"""Commits that are looked for again; an honest git has one at most."""
STASH = "refs/stash"
STASH_LOG = "logs/refs/stash"

_Made = tuple[str, int, tuple[tuple[object, ...], ...]]
"""A commit's message, how many parents it has, and at each path mode and blob before and after."""


class Repository:
    """A repository whose `.git` is watched. What cannot be read moves nothing."""

    def __init__(self, files: Files, programs: Programs) -> None:
        """Read it as it is; GitProblem where it is none."""
        self._files, self._programs = files, programs
        state = git.read_state(files)
        self._refs: dict[str, str] = {**state.refs, "HEAD": state.head}
        self._known = {value for value in self._refs.values() if git.is_id(value)}
        self._index = ""
        self._agreed: dict[_Made, Committed] = {}
        """The last commit of this run with such a content that hooks agreed to."""
        self._unread: dict[str, tuple[str, tuple[str, ...]]] = {}
        """By commit whose objects are not all there yet: its branch, and the hooks that ran."""

    def take(self, name: str, touch: Touch) -> Iterator[Fact]:
        """Take a touch of a file, by its path below `.git`."""
        yield from self.again()
        if name.endswith(".lock"):
            return
        if name == "index" and touch.digest != self._index:
            self._index = touch.digest
            yield IndexChanged()
        elif name == STASH_LOG:
            stash = self._refs.get(STASH)
            yield Stashed(before=stash, after=stash)
        elif name == "HEAD":
            text = touch.head.decode("ascii", "replace").strip().removeprefix("ref: ")
            yield from self._moved(name, text or None)
        elif name.startswith("refs/"):
            for ref in self._named(name, touch):
                yield from self._moved(ref, self._value(ref, touch))
        elif name == "packed-refs":
            yield from self._packed()

    def again(self) -> Iterator[Fact]:
        """Tell of commits that could not be read when a branch came to them, and now can be.

        Their objects may be written, or put where git looks for them, at any time later.
        """
        for tip, (ref, hooks) in [*self._unread.items()]:
            yield from self._tell(ref, tip, hooks)

    def _named(self, name: str, touch: Touch) -> list[str]:
        """Give the refs that a touch is about: one, or all below a folder that is gone."""
        if touch.kind is TouchKind.FILE or name in self._refs:
            return [name]
        return sorted(ref for ref in self._refs if ref.startswith(name + "/"))

    def _value(self, ref: str, touch: Touch) -> str | None:
        found = _ID.fullmatch(touch.head)
        if touch.kind is TouchKind.FILE:
            return found[1].decode() if found else None
        return self._read().get(ref)  # it may have been packed

    def _packed(self) -> Iterator[Fact]:
        now = self._read()
        for ref in sorted(now.keys() | (self._refs.keys() - {"HEAD"})):
            yield from self._moved(ref, now.get(ref))

    def _read(self) -> dict[str, str]:
        try:
            return git.read_state(self._files).refs
        except GitProblem:
            return {}

    def _moved(self, ref: str, after: str | None) -> Iterator[Fact]:
        before = self._refs.get(ref)
        if before == after:
            return
        if after is None:
            self._refs.pop(ref, None)
        else:
            self._refs[ref] = after
        if ref == STASH:
            yield Stashed(before=before, after=after)
            return
        yield RefMoved(ref=ref, before=before, after=after)
        branch = ref.startswith("refs/heads/") or ref == "HEAD"
        if branch and after is not None and git.is_id(after) and after not in self._known:
            yield from self._committed(ref, after)

    def _committed(self, ref: str, tip: str) -> Iterator[Fact]:
        yield from self._tell(ref, tip, self._programs.take_hooks())

    def _tell(self, ref: str, tip: str, hooks: tuple[str, ...]) -> Iterator[Fact]:
        try:
            history = History(Objects(self._files))
            new = history.new(self._known, [tip])
            trees = {commit.id: history.tree(commit.id) for commit in new}
            files = {commit.id: _files(history, commit) for commit in new}
            made = {commit.id: _made(history, commit) for commit in new}
        except GitProblem:
            if tip in self._unread or len(self._unread) < UNREAD:
                self._unread[tip] = (ref, hooks)
            else:
                yield FactsLost()
            return
        self._unread.pop(tip, None)
        self._known.add(tip)
        for commit in new:
            merge = len(commit.parents) > 1
            own = hooks if commit.id == tip and len(new) == 1 else ()
            asked = self._programs.are_enough(own, merge=merge)
            like = self._agreed.get(made[commit.id])
            if not asked and like is not None and self._programs.stands(like.id):
                own = like.hooks  # a rebase makes commits anew without asking again
            hooked = self._programs.are_enough(own, merge=merge)
            fact = Committed(
                ref=ref,
                id=commit.id,
                tree=trees[commit.id],
                parents=commit.parents,
                paths=commit.paths,
                files=files[commit.id],
                hooks=own,
                hooked=hooked if self._programs.sees else None,
            )
            if asked:
                self._agreed[made[commit.id]] = fact
            yield fact


def _made(history: History, commit: Commit) -> _Made:
    """Give what a commit says and does, wherever it stands."""
    both = (*commit.parents[:1], commit.id)
    entries = tuple(
        (path, *(history.entry(each, paths.raw(path)) for each in both)) for path in commit.paths
    )
    return commit.message, len(commit.parents), entries


def _files(history: History, commit: Commit) -> dict[str, str | None] | None:
    """Give digests of what a commit holds at the paths that it changed, if they are not many."""
    if len(commit.paths) > FILES_TOLD:
        return None
    found: dict[str, str | None] = {}
    left = FILES_BYTES
    for path in commit.paths:
        content = history.file(commit.id, paths.raw(path))
        left -= len(content or b"")
        if left < 0:
            return None
        found[path] = None if content is None else hashlib.sha256(content).hexdigest()
    return found
