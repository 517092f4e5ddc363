"""Taking the change set of a session: what is noted at its start, and what differs at its end."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from sandbox.container.changes import git, git_delivery, shared
from sandbox.container.changes.bounds import Bounds
from sandbox.container.changes.difference import Difference, since, state
from sandbox.container.changes.git_files import GitProblem, SessionFiles
from sandbox.container.changes.manifest import Baseline, digests
from sandbox.container.changes.mounts import mounts
from sandbox.container.changes.overlay import OverlayWalk, readable
from sandbox.container.changes.patch import Contents, render
from sandbox.container.engines.base import Session
from sandbox.model import path_text as paths
from sandbox.model.change import WORK, ChangeSet, Delivered, GitChange, GitState, Owner, SharedFile
from sandbox.model.scopes import names_below, owner_of
from sandbox.model.session import FileKind
from sandbox.model.task import Scope

Source = Literal["overlay", "manifest"]


@dataclass(frozen=True, slots=True)
class Collected:
    """What a run changed."""

    changes: ChangeSet
    patch: str
    """The same for people: a unified diff of text files, the rest in words."""


class Collector:
    """Notes what a session holds before the agent starts, and compares when it has ended."""

    def __init__(
        self, session: Session, scope: Scope, worktree: str, *, source: Source | None = None
    ) -> None:
        """Note the start.

        By the overlay's upper directory where this host can read it, else by the supervisor's
        manifest; `source` forces one of the two, and ValueError where that is not possible.
        """
        self._session = session
        self._scope = scope
        self._worktree = worktree.rstrip("/")
        self._mounts = mounts(session)
        overlay = session.overlay() if source != "manifest" else None
        self._overlay = overlay if readable(overlay) else None
        if source == "overlay" and self._overlay is None:
            raise ValueError("the overlay of this session cannot be read")
        self._laid = self._written() if self._overlay else {}
        self._root = None if self._overlay else Baseline(session, (b"/",), self._mounts)
        self._volatile = Baseline(session, self._mounts.volatile, self._mounts)
        self._volatile_digests = digests(session, self._volatile.files(session))
        self._git: GitState | None = None
        self._git_problem = ""
        self.users_work: dict[str, str | None] = {}
        """The shared files as they stood in the worktree when the run began."""
        try:
            files = SessionFiles(session, self._worktree)
            self._git = git.read_state(files)
            self.users_work = shared.users_work(files, scope.shared)
        except GitProblem as problem:
            self._git_problem = f"before the run: {problem}"

    @property
    def source(self) -> Source:
        """By which way differences are found."""
        return "manifest" if self._overlay is None else "overlay"

    def collect(self, pristine: Callable[[], Session]) -> Collected:
        """Compare; the session's processes are dead.

        `pristine` gives a session in the state of the start that nobody used. It is asked at most
        once, by the manifest where a file of the image differs, by the overlay where one of the
        world's layer does; it is not closed.
        EvidenceError where the overlay cannot be understood.
        """
        with self._differences(pristine) as (found, unlisted, contents):
            changes = self._change_set(found, unlisted)
            return Collected(changes, render(changes.changes, contents))

    def change_set(self, pristine: Callable[[], Session]) -> ChangeSet:
        """Compare as `collect` does, without the text for people."""
        with self._differences(pristine) as (found, unlisted, _):
            return self._change_set(found, unlisted)

    def _change_set(
        self, found: Mapping[bytes, Difference], unlisted: Mapping[bytes, int]
    ) -> ChangeSet:
        change, problem = self._git_change(found)
        files: tuple[SharedFile, ...] = ()
        if change is not None and self.users_work:
            try:
                there = SessionFiles(self._session, self._worktree)
                files = shared.read(there, change, self.users_work)
            except GitProblem as unread:
                change, problem = None, str(unread)
        named = sorted((paths.text(path), pair) for path, pair in found.items())
        return ChangeSet.model_validate(
            {
                "source": self.source,
                "changes": tuple(
                    {
                        "path": path,
                        "owner": self._owner(path),
                        "before": pair.before and state(pair.before),
                        "after": pair.after and state(pair.after),
                    }
                    for path, pair in named
                ),
                "git": change,
                "git_problem": problem,
                "shared": files,
                "unlisted": tuple(
                    {"path": paths.text(path), "entries": entries, "owner": self._owner_below(path)}
                    for path, entries in sorted(unlisted.items())
                ),
            }
        )

    @contextmanager
    def _differences(
        self, pristine: Callable[[], Session]
    ) -> Iterator[tuple[dict[bytes, Difference], dict[bytes, int], Contents]]:
        bounds = Bounds(lambda folder: self._owner_below(folder) is Owner.GENERATED)
        volatile = self._volatile.differences(self._session, self._digested, bounds)
        if self._root is not None:
            image = _Image(pristine)
            found = self._root.differences(self._session, image.digests, bounds)
            yield (
                found | volatile,
                bounds.unlisted,
                _SessionContents(self._session, image, frozenset(volatile)),
            )
        elif self._overlay is not None:
            with OverlayWalk(self._overlay, self._mounts.excluded, bounds) as walk:
                found = since(self._laid, walk.differences())
                session = _SessionContents(self._session, _Image(pristine), frozenset(volatile))
                yield (
                    found | volatile,
                    bounds.unlisted,
                    _OverlayContents(walk, session, frozenset(volatile), frozenset(self._laid)),
                )

    def _written(self) -> dict[bytes, Difference]:
        """Give what the world's layer has written already."""
        if self._overlay is None:
            return {}
        bounds = Bounds(lambda _: False)
        with OverlayWalk(self._overlay, self._mounts.excluded, bounds) as walk:
            return walk.digested(walk.differences())

    def _digested(self, files: list[bytes]) -> dict[bytes, str]:
        return {path: self._volatile_digests[path] for path in files}

    def _git_change(self, found: Mapping[bytes, Difference]) -> tuple[GitChange | None, str]:
        if self._git is None:
            return None, self._git_problem
        folder = paths.raw(f"{self._worktree}/.git")
        if not any(_touches(path, folder) for path in found):
            return GitChange(before=self._git, after=self._git, commits=()), ""
        files = SessionFiles(self._session, self._worktree)
        try:
            change = git.compare(self._git, git.read_state(files), files)
            known: dict[str, object] = {"delivered": self._delivered(files, change, found)}
            if any(pair.before and _is_object(path, folder) for path, pair in found.items()):
                known["lost"] = git_delivery.lost(files, self._git)
            return change.model_copy(update=known), ""
        except GitProblem as problem:
            return None, str(problem)

    def _delivered(
        self, files: SessionFiles, change: GitChange, found: Mapping[bytes, Difference]
    ) -> tuple[Delivered, ...]:
        """Look at the agent's work where it was committed; what is shared is looked at apart."""
        tip = shared.tip(change.after)
        if not change.commits or not git.is_id(tip):
            return ()
        named = {path for commit in change.commits for path in commit.paths}
        base = paths.raw(self._worktree + "/")
        named |= {
            paths.text(path.removeprefix(base))
            for path, pair in found.items()
            if path.startswith(base) and FileKind.FILE in _kinds(pair)
        }
        own = (path for path in named if self._owner(f"{self._worktree}/{path}") in WORK)
        return git_delivery.delivered(files, tip, set(own) - set(self._scope.shared))

    def _owner(self, path: str) -> Owner:
        return owner_of(self._scope, path, self._worktree)

    def _owner_below(self, folder: bytes) -> Owner:
        """Say whether all that may come into a folder is nobody's."""
        path = paths.text(folder).rstrip("/")
        nobodys = self._owner(f"{path}/x") is Owner.GENERATED
        named = names_below(self._scope, path, self._worktree)
        return Owner.GENERATED if nobodys and not named else Owner.COLLATERAL


def _kinds(pair: Difference) -> set[FileKind]:
    return {status.kind for status in pair if status is not None}


def _is_object(path: bytes, folder: bytes) -> bool:
    return path.startswith(folder + b"/objects/")


def _touches(path: bytes, folder: bytes) -> bool:
    """Whether a path is a folder, lies in it or holds it."""
    return path == folder or path.startswith(folder + b"/") or folder.startswith(path + b"/")


class _Image:
    """The files of the start, in a session that is asked for when the first of them is needed."""

    def __init__(self, pristine: Callable[[], Session]) -> None:
        self._pristine = pristine
        self._session: Session | None = None

    @property
    def session(self) -> Session:
        if self._session is None:
            self._session = self._pristine()
        return self._session

    def digests(self, files: list[bytes]) -> dict[bytes, str]:
        return digests(self.session, files) if files else {}


@dataclass(frozen=True, slots=True)
class _SessionContents:
    """Contents by the supervisors of the run's session and of a pristine one."""

    current: Session
    image: _Image
    volatile: frozenset[bytes]

    def read_before(self, path: bytes, limit: int) -> bytes | None:
        if path in self.volatile:
            return None
        return self.image.session.read(path, limit=limit, follow=False)

    def read_after(self, path: bytes, limit: int) -> bytes | None:
        return self.current.read(path, limit=limit, follow=False)


@dataclass(frozen=True, slots=True)
class _OverlayContents:
    """Contents by the overlay, and by the supervisor where no overlay holds the file."""

    walk: OverlayWalk
    session: _SessionContents
    volatile: frozenset[bytes]
    laid: frozenset[bytes]
    """What is no more as the image has it, so that only a session shows how it was."""

    def read_before(self, path: bytes, limit: int) -> bytes | None:
        if path in self.volatile or path in self.laid:
            return self.session.read_before(path, limit)
        return self.walk.read_before(path, limit)

    def read_after(self, path: bytes, limit: int) -> bytes | None:
        if path in self.volatile:
            return self.session.read_after(path, limit)
        return self.walk.read_after(path, limit)
