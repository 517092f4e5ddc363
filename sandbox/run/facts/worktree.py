"""What stands in the worktree and what has become of it, from one touch to the next."""

import hashlib
import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from sandbox.model import path_text as paths
from sandbox.model.change import WORK, Owner
from sandbox.model.fact import Changed
from sandbox.model.scopes import owner_of
from sandbox.model.session import WRITABLE, Touch, TouchKind
from sandbox.model.task import Scope
from sandbox.rules.monitors.compiled_arguments import OWN_FILES
from sandbox.rules.monitors.pytest_arguments import WITHOUT
from sandbox.rules.monitors.vitest_arguments import PART
from sandbox.run.facts.baseline import Baseline, Held, Watched, held
from sandbox.run.facts.deciding import Deciding

DIFFERING = 20
"""Paths that are named as the reason why a run of tests proves nothing."""

PASSING = re.compile(r"/pytest-cache-files-[^/]+(/(README\.md|\.gitignore|CACHEDIR\.TAG))?$")
"""pytest's folder before it becomes .pytest_cache, and what is in it then."""

HAD = 200_000
"""Contents of paths that are remembered; those beyond are not known again."""

OWNERS = 4096
"""Paths of which it is kept whose they are."""

MEANWHILE = 1000
"""Paths that are named as changed while tests ran."""


class Moment(NamedTuple):
    """How many changes there have been."""

    changed: int
    decisive: int


class Worktree:
    """Every watched path: what it held at the start and what it holds now."""

    def __init__(
        self,
        base: Baseline,
        watched: Watched,
        scope: Scope,
        named: frozenset[str] = frozenset(),
        plugs_in: Callable[[str], bool] = lambda _: True,
        sets_nothing: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Know what there was; changes of what is `named` are told although tools write it.

        `plugs_in` and `sets_nothing` are as `Deciding` has them.
        """
        self._named = named
        self._base, self._watched = base, watched
        # Programs write the same files time and again, and each is asked about more than once.
        self._owner = lru_cache(OWNERS)(lambda path: owner_of(scope, path, watched.worktree))
        self._now: dict[str, Held | None] = {}
        """Only what is not as at the start; None where nothing stands there any more."""
        self._had: set[int] = set()
        """Hashes of paths of the worktree with the contents that they have had."""
        self._decisive: list[str] = []
        """Paths that decide what a run of tests says, each time one of them was changed."""
        self._changed: list[str] = []
        """Paths of the worktree, each time one of them was changed."""
        self._deciding = Deciding(base, watched, self._owner, self._is_seen, plugs_in, sets_nothing)
        self._begun = frozenset(folder for path in base for folder in _above(path))
        """Every folder that there was."""
        self._folders = {*self._begun}
        """Every folder in which something was ever known."""

    def take(self, touch: Touch) -> Iterator[Changed]:
        """Take a touch of a file, or of what is gone; give what is other than before."""
        path = paths.text(touch.path)
        if touch.kind is TouchKind.FILE:
            yield from self._put(path, held(touch))
        elif path in self._base or path in self._now:
            yield from self._put(path, None)
        elif path in self._folders:
            below = path + "/"
            known = {*self._base, *self._now}
            for each in sorted(each for each in known if each.startswith(below)):
                yield from self._put(each, None)
        elif self._deciding.decides(path, vanished=True):  # it came and went before anybody looked
            self._decisive.append(path)

    def note_unseen(self, path: str) -> None:
        """Take that a file was written without an event."""
        if path in self._base and self._deciding.decides(path):
            self._decisive.append(path)

    def is_tool(self, path: str) -> bool:
        """Whether a program has the name of one that the test runner calls."""
        return self._watched.is_tool(path)

    def stand_in(self, path: str) -> None:
        """Take that a program of this path runs, perhaps in the place of one of the image's."""
        if self.is_foreign(path):
            self._decisive.append(path)

    def rebase(self, touch: Touch) -> None:
        """Take what the user has done to a file of theirs as what there was at the start."""
        path = paths.text(touch.path)
        self._base = {**self._base, path: held(touch)}
        self._deciding.rebase(self._base)
        self._now.pop(path, None)

    def holds(self, path: str) -> Held | None:
        """What stands at an absolute path; None where nothing that is watched does."""
        return self._now[path] if path in self._now else self._base.get(path)

    def files(self) -> Iterator[str]:
        """Yield what stands in the worktree, relative to it."""
        below = self._watched.worktree + "/"
        known = (path for path in {**self._base, **self._now} if path.startswith(below))
        return (path.removeprefix(below) for path in known if self.holds(path) is not None)

    def nearest(self, folder: str, name: str) -> str:
        """Give the folder, or the nearest one above it in the worktree, that has a file."""
        above = folder
        while above.startswith(self.root) and self.holds(f"{above}/{name}") is None:
            above = above.rpartition("/")[0]
        return above if above.startswith(self.root) else folder

    def as_at_start(self, path: str) -> bool:
        """Whether an absolute path holds what it held."""
        return path not in self._now

    def is_foreign(self, path: str) -> bool:
        """Whether an absolute path is of a file that whoever runs here has put there."""
        if any(path.startswith(root + "/") for root in self._watched.roots):
            return path not in self._base or path in self._now
        return path.startswith(WRITABLE)

    def loaded_first(self, folder: str, moment: Moment) -> tuple[str, ...]:
        """Give what Python may load in place of other modules where it looks in a folder first.

        The folder itself where it is not watched and an agent may write there; in the worktree what
        is new in it, or was since a moment.
        """
        if folder != self._watched.worktree and not folder.startswith(self._watched.worktree + "/"):
            return (folder,) if f"{folder}/".startswith(WRITABLE) else ()
        if not self._is_watched(folder):
            return (self.relative(folder),)
        below, start = self._watched.worktree + "/", self.relative(folder)
        there = (path.removeprefix(below) for path in self._now if path.startswith(below))
        paths = {*there, *self._changed[moment.changed :]}
        new = (path for path in paths if below + path not in self._base)
        hiding = (path for path in new if self._deciding.hides(path, start))
        return tuple(sorted(hiding))[:DIFFERING]

    def has_module(self, name: str, cwd: str) -> bool:
        """Whether node finds a module by a name, and what the image holds of it is as it was."""
        if name.startswith((".", "/")):
            path = posixpath.normpath(posixpath.join(cwd, name))
            return path in self._base and path not in self._now
        below = f"{self._watched.worktree}/node_modules/{name}/"
        known = [path for path in self._base if path.startswith(below)]
        return bool(known) and not any(path in self._now for path in known)

    def adds(self, roots: Iterable[str]) -> tuple[str, ...]:
        """Give what a run of tests is told to load that is nobody's work, and not the image's.

        `roots` are what it covers; a run elsewhere alone adds nothing to one of the worktree. Parts
        of paths name no file: they choose among those that the runner finds.
        """
        plain = [_folder(root) for root in roots if not root.startswith((WITHOUT, PART))]
        if all(root.startswith("/") for root in plain):
            return ()
        return tuple(root for root in plain if root != "." and not self._is_anybodys(root))

    def _is_anybodys(self, root: str) -> bool:
        """Whether a path of the worktree is the image's, or the agent's own work."""
        path = f"{self._watched.worktree}/{root}"
        known = path in self._base or path in self._begun or self._owner(path) in WORK
        return known and not root.startswith("/")

    def _is_watched(self, folder: str) -> bool:
        parts, excluded = folder.split("/"), self._watched.excluded
        return not any(
            folder == each or folder.startswith(each + "/") if "/" in each else each in parts
            for each in excluded
        )

    @property
    def root(self) -> str:
        """The worktree's path."""
        return self._watched.worktree

    @property
    def framework(self) -> str:
        """That of the tests."""
        return self._watched.framework

    @property
    def tree(self) -> str:
        """SHA-256 over what is not as at the start and not somebody's cache, nor git's own."""
        differing = {
            path: None if now is None else now.content
            for path, now in sorted(self._now.items())
            if self._is_seen(path) and not self._is_gits(path)
        }
        return hashlib.sha256(json.dumps(differing).encode()).hexdigest()

    @property
    def moment(self) -> Moment:
        """When it is."""
        return Moment(len(self._changed), len(self._decisive))

    def unsound_since(self, moment: Moment) -> tuple[str, ...]:
        """Give what decides a run of tests and is not, or since then was not, as in the image."""
        now = (path for path in self._now if self._deciding.decides(path))
        named = sorted({*now, *self._decisive[moment.decisive :]})
        return tuple(self.relative(path) for path in named[:DIFFERING])

    def changed_since(self, moment: Moment) -> tuple[str, ...]:
        """Give the paths of the worktree that were changed since then."""
        return tuple(sorted(set(self._changed[moment.changed :])))[:MEANWHILE]

    def _put(self, path: str, new: Held | None) -> Iterator[Changed]:
        old, base = self.holds(path), self._base.get(path)
        if new is not None:
            self._deciding.look(path, new)
        if self._deciding.decides(
            path
        ):  # whatever it holds: it may have held something else meanwhile
            self._decisive.append(path)
        if _content(old) == _content(new) and (new is None or new.digest):
            return
        same = _content(new) == _content(base) and (new is None or bool(new.digest))
        if same:
            self._now.pop(path, None)
        else:
            self._now[path] = new
            self._folders.update(_above(path))
        if self._is_seen(path) and not self._is_gits(path):
            self._changed.append(self.relative(path))
            yield Changed(
                path=self.relative(path),
                digest=None if new is None else new.digest,
                before=None if old is None else old.digest,
                mode=0 if new is None else new.mode,
                as_at_start=same,
                again=self._has_been(path, new),
            )
            self._note(path, old)

    def _has_been(self, path: str, found: Held | None) -> bool:
        """Whether a path holds what it held at any time before."""
        known = found is None or bool(found.digest)
        return known and hash((path, _content(found))) in self._had

    def _note(self, path: str, found: Held | None) -> None:
        """Remember what a path held until now."""
        if len(self._had) < HAD:
            self._had.add(hash((path, _content(found))))

    def _is_seen(self, path: str) -> bool:
        if not path.startswith(self._watched.worktree + "/") or PASSING.search(path):
            return False
        return self._owner(path) is not Owner.GENERATED or self.relative(path) in self._named

    def _is_gits(self, path: str) -> bool:
        return self.relative(path).startswith(".git/")

    def relative(self, path: str) -> str:
        """Give a path from the worktree on where it lies in it."""
        return path.removeprefix(self._watched.worktree + "/")


def _content(found: Held | None) -> tuple[str, str, bool] | None:
    return None if found is None else found.content


def _folder(root: str) -> str:
    """Give what a run covers without the mark for a folder's own files."""
    return "." if root == OWN_FILES else root.removesuffix(f"/{OWN_FILES}")


def _above(path: str) -> Iterator[str]:
    """Give the folders that a path lies in."""
    while path := path.rpartition("/")[0]:
        yield path
