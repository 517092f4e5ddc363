"""What became of the repository: refs, commits, stash and index, read from `.git` as data."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from sandbox.container.changes import git
from sandbox.container.changes.git_files import Files, GitProblem
from sandbox.container.changes.git_history import History
from sandbox.container.changes.git_objects import Objects
from sandbox.model import path_text as paths
from sandbox.model.change import Commit
from sandbox.model.fact import Committed, Fact, FactsLost, IndexChanged, RefMoved, Stashed
from sandbox.model.session import Touch, TouchKind
from sandbox.run.facts.hooks import Agreement
from sandbox.run.facts.linked_worktrees import LinkedWorktrees, head_of
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


@dataclass(frozen=True, slots=True)
class _New:
    commit: Commit
    tree: str
    files: dict[str, str | None] | None
    made: _Made


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
        self._unhooked: set[_Made] = set()
        """The contents of commits that were made without them."""
        self._unread: dict[str, tuple[str, Agreement]] = {}
        """By commit whose objects are not all there yet: its branch, and the hooks that agreed."""
        self._written: dict[str, set[str]] = {}
        """By ref at a HEAD: the commits that were written into its lock since it moved."""
        self._awaited: set[str] = set()
        """Refs of whose own files it is still to be told."""
        self._unlocked: set[str] = set()
        """Refs whose lock is gone."""
        self._linked = LinkedWorktrees(files)
        self._known_apart: set[str] = set()
        """Commits at the HEAD of a linked worktree, which had no branch then."""

    def take(self, name: str, touch: Touch) -> Iterator[Fact]:
        """Take a touch of a file, by its path below `.git`."""
        yield from self.again()
        if name.endswith(".lock"):
            self._lock(name.removesuffix(".lock"), touch)
        elif name == "index" and touch.digest != self._index:
            self._index = touch.digest
            yield IndexChanged()
        elif name == STASH_LOG:
            stash = self._refs.get(STASH)
            yield Stashed(before=stash, after=stash)
        elif name == "HEAD":
            yield from self._moved(name, head_of(touch, self._files, name))
        elif name.startswith("refs/"):
            for ref in self._named(name, touch):
                yield from self._touched(ref, touch)
        elif name == "packed-refs":
            yield from self._packed()
        else:
            yield from self._linked_touched(name, touch)

    def _linked_touched(self, name: str, touch: Touch) -> Iterator[Fact]:
        stood = self._linked.refs
        head = self._linked.take(name, touch, self._files)
        yield from self._programs.left(stood - self._linked.refs)
        if head is not None:
            self._apart(name, head)

    def again(self) -> Iterator[Fact]:
        """Tell of commits that could not be read when a branch came to them, and now can be.

        Their objects may be written, or put where git looks for them, at any time later.
        """
        for tip, (ref, agreement) in [*self._unread.items()]:
            yield from self._tell(ref, tip, agreement)

    def settled(self) -> Iterator[Fact]:
        """Tell of all that was still to come, and of which no file has told: nothing more will."""
        yield from self.again()
        now = self._read() if self._awaited else {}
        for ref in sorted(self._awaited):
            if now.get(ref) != self._refs.get(ref):
                yield from self._moved(ref, now.get(ref))
        self._awaited.clear()

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

    def _touched(self, ref: str, touch: Touch) -> Iterator[Fact]:
        value = self._value(ref, touch)
        if touch.kind is TouchKind.FILE:
            self._awaited.discard(ref)
            yield from self._moved(ref, value)  # also where it is written once more as it was
        else:
            yield from self._found(ref, value)

    def _found(self, ref: str, value: str | None) -> Iterator[Fact]:
        """Take what a ref is now. Of a file of its own that is new it will be told in its place."""
        is_new = value is not None and git.is_id(value) and value not in self._known
        if is_new and self._is_loose(ref):
            self._awaited.add(ref)
        elif value != self._refs.get(ref):
            yield from self._moved(ref, value)

    def _is_loose(self, ref: str) -> bool:
        try:
            return self._files.stat(paths.raw(f".git/{ref}")) is not None
        except GitProblem:
            return False

    def _lock(self, ref: str, touch: Touch) -> None:
        """Keep what is written into the lock of a ref, which git then renames to the ref itself."""
        if touch.kind is not TouchKind.FILE:
            self._unlocked |= {ref} & self._written.keys()
        elif (found := _ID.fullmatch(touch.head)) and self._at(ref):
            if ref in self._unlocked:
                self._written.pop(ref, None)
            self._unlocked.discard(ref)
            self._written.setdefault(ref, set()).add(found[1].decode())

    def _packed(self) -> Iterator[Fact]:
        now = self._read()
        for ref in sorted(now.keys() | (self._refs.keys() - {"HEAD"})):
            yield from self._found(ref, now.get(ref))

    def _read(self) -> dict[str, str]:
        try:
            return git.read_state(self._files).refs
        except GitProblem:
            return {}

    def _moved(self, ref: str, after: str | None) -> Iterator[Fact]:
        before = self._refs.get(ref)
        agreement = self._agreement(ref, after)
        if before == after:
            return
        stood = self._tip
        if after is None:
            self._refs.pop(ref, None)
        else:
            self._refs[ref] = after
        if ref == STASH:
            yield Stashed(before=before, after=after)
            return
        tip = self._tip if self._tip != stood else None
        yield RefMoved(ref=ref, before=before, after=after, tip=tip)
        if ref == "HEAD" and before is not None:
            yield from self._programs.left({before})
        if ref != "HEAD" and not ref.startswith("refs/heads/"):
            return
        if after is not None and git.is_id(after) and after not in self._known:
            yield from self._tell(ref, after, agreement)
        else:
            at = after if after is None or git.is_id(after) else self._refs.get(after)
            yield from self._programs.moved(ref, at, ())

    @property
    def _tip(self) -> str | None:
        """The commit that HEAD is at, by its branch or by itself; None on a branch without one."""
        head = self._refs.get("HEAD")
        return head if head is None or git.is_id(head) else self._refs.get(head)

    def _at(self, ref: str) -> list[str]:
        """Name the git directories whose HEAD is a ref."""
        own = ["."] if ref in ("HEAD", self._refs.get("HEAD")) else []
        return [*own, *self._linked.at(ref)]

    def _agreement(self, ref: str, after: str | None) -> Agreement:
        """Take what hooks have agreed to, if a git that commits moves this ref: it is at HEAD.

        Whatever else becomes of that ref, it was not what the hooks were asked about.
        """
        written = self._written.pop(ref, set())
        directories = self._at(ref)
        agreement = self._programs.take_agreement(directories) if directories else Agreement()
        is_own = written <= {after} and not self._linked.diverted
        return agreement if is_own else Agreement()

    def _tell(self, ref: str, tip: str, agreement: Agreement) -> Iterator[Fact]:
        try:
            new = self._new(self._known, tip)
        except GitProblem:
            if tip in self._unread or len(self._unread) < UNREAD:
                self._unread[tip] = (ref, agreement)
            else:
                yield FactsLost()
            yield from self._programs.moved(ref, tip, ())
            return
        self._unread.pop(tip, None)
        self._known.add(tip)
        yield from self._programs.moved(ref, tip, _parents(new))
        for fact in self._facts(ref, new, agreement):
            self._programs.made(fact, agreement)
            yield fact

    def _apart(self, name: str, tip: str) -> None:
        """Keep which hooks agreed to a commit at the HEAD of a linked worktree, where no branch is.

        It is told when a branch comes to it.
        """
        agreement = self._agreement(tip, tip)
        known = self._known | self._known_apart
        if not git.is_id(tip) or tip in known:
            return
        with suppress(GitProblem):
            new = self._new(known, tip)
            self._known_apart.add(tip)
            self._programs.moved(name, tip, _parents(new))
            for fact in self._facts(name, new, agreement):
                self._programs.made(fact, agreement)

    def _new(self, known: set[str], tip: str) -> list[_New]:
        history = History(Objects(self._files))
        return [
            _New(each, history.tree(each.id), _files(history, each), _made(history, each))
            for each in history.new(known, [tip])
        ]

    def _facts(self, ref: str, new: list[_New], agreement: Agreement) -> Iterator[Committed]:
        upheld = self._programs.upholds(agreement) and len(new) == 1
        for each in new:
            commit, own = each.commit, agreement.hooks if upheld else ()
            merge = len(commit.parents) > 1
            asked = self._programs.are_enough(own, merge=merge)
            like = self._agreed.get(each.made)
            if not asked and like is not None and self._programs.stands(like.id):
                own = like.hooks  # a rebase makes commits anew without asking again
            hooked = self._programs.are_enough(own, merge=merge)
            unasked = agreement.unasked and each.made not in self._unhooked
            known = self._programs.sees and (hooked or not unasked)
            fact = Committed(
                ref=ref,
                id=commit.id,
                tree=each.tree,
                parents=commit.parents,
                paths=commit.paths,
                files=each.files,
                standing=self._standing(each.files or {}),
                hooks=own,
                hooked=hooked if known else None,
            )
            if asked:
                self._agreed[each.made] = fact
            elif fact.hooked is False:
                self._unhooked.add(each.made)
            yield fact

    def _standing(self, held: dict[str, str | None]) -> tuple[str, ...]:
        return tuple(path for path, digest in held.items() if digest == self._digest(path))

    def _digest(self, path: str) -> str | None:
        """Give the SHA-256 of a file of the worktree, None where nothing stands there."""
        try:
            content = self._files.read(paths.raw(path), FILES_BYTES)
        except GitProblem:
            return ""
        return None if content is None else hashlib.sha256(content).hexdigest()


def _parents(new: list[_New]) -> set[str]:
    return {parent for each in new for parent in each.commit.parents}


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
