"""What stands in the worktree and what has become of it, from one touch to the next."""

import hashlib
import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from sandbox.container.candidate import decides_by_name
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
from sandbox.run.facts.shadows import CODE, Shadows, is_code

DIFFERING = 20
"""Paths that are named as the reason why a run of tests proves nothing."""

PASSING = re.compile(r"/pytest-cache-files-[^/]+(/(README\.md|\.gitignore|CACHEDIR\.TAG))?$")
"""pytest's folder before it becomes .pytest_cache, and what is in it then."""

NOTES = frozenset({".package-lock.json"})
"""Names of files of a runtime that installers write for themselves; no runner reads them."""

LOADED = (
    *(".pth", "sitecustomize.py", "usercustomize.py", "usercustomize/__init__.py"),
    *("apport_python_hook.py", "apport_python_hook/__init__.py"),
)
"""How files end that an interpreter, or Debian's own sitecustomize, loads by itself, whoever put
them there."""

PLUGINS = "/entry_points.txt"
"""How a file ends by which a package names plugins; pytest loads those of `[pytest11]`."""

DESCRIBING = (".dist-info", ".egg-info")
"""How a folder ends that describes a package."""


NOBODYS = (Owner.NEVER, Owner.COLLATERAL)
"""Whose code and tests a run of tests has to find as they were, and no others of."""

TESTS = re.compile(r"(^|/)(test[^/]*|[^/]*_test\.\w+|[^/]*\.test\.\w+|[Mm]akefile)(/|$)")
"""Files of tests, and what builds them: of those that the task forbids to change."""

MADE, MAKEFILES = ("make", "unity"), ("Makefile", "makefile", "GNUmakefile")
"""Frameworks whose tests are built by make, and from which files that reads its rules."""

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

        `plugs_in` reads whether a file names plugins of the test runner, `sets_nothing` whether one
        of its settings leaves it as it is.
        """
        self._plugs_in, self._sets_nothing = plugs_in, sets_nothing
        self._harmless = set[str]()
        """Files of settings that leave the runner as it is."""
        self._plugins, self._links = set[str](), set[str]()
        """Paths that were ever a file that names plugins, or a link, since the start."""
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
        self._shadows = _shadows(base, watched)
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
        elif self._decides(path, vanished=True):  # it came and went before anybody looked
            self._decisive.append(path)

    def note_unseen(self, path: str) -> None:
        """Take that a file was written without an event."""
        if path in self._base and self._decides(path):
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
        hiding = (
            path
            for path in new
            if self._shadows.hides(path, start, link=below + path in self._links)
        )
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
        now = (path for path in self._now if self._decides(path))
        named = sorted({*now, *self._decisive[moment.decisive :]})
        return tuple(self.relative(path) for path in named[:DIFFERING])

    def changed_since(self, moment: Moment) -> tuple[str, ...]:
        """Give the paths of the worktree that were changed since then."""
        return tuple(sorted(set(self._changed[moment.changed :])))[:MEANWHILE]

    def _put(self, path: str, new: Held | None) -> Iterator[Changed]:
        old, base = self.holds(path), self._base.get(path)
        if new is not None:
            self._look(path, new)
        if self._decides(path):  # whatever it holds: it may have held something else meanwhile
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

    def _look(self, path: str, new: Held) -> None:
        """Keep what a link may lead to, and a file says, for as long as a run of tests may last."""
        if new.kind == "link":
            self._links.add(path)
        elif path.endswith(PLUGINS) and self._plugs_in(path):
            self._plugins.add(path)
        elif self._watched.is_settings(path) and self._sets_nothing(path):
            self._harmless.add(path)
        else:
            self._harmless.discard(path)

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

    def _decides(self, path: str, *, vanished: bool = False) -> bool:
        """Whether the outcome of a test run may be this path's doing, and not the agent's work.

        Of what has `vanished` nothing is known but its path.
        """
        if self._is_gits(path):
            return False
        if self._watched.is_settings(path):
            return path not in self._harmless
        if any(path.startswith(folder + "/") for folder in self._watched.runtime):
            known = path in self._base and path.rpartition("/")[2] not in NOTES
            loaded = path.endswith(LOADED) or path in self._plugins
            linked = path in self._links and path.lower().endswith((PLUGINS, *DESCRIBING))
            return known or loaded or linked or self._is_nested(path)
        if not self._is_seen(path):
            return False
        owner, relative = self._owner(path), self.relative(path)
        if owner in (*WORK, Owner.GIT):
            return False
        if owner in NOBODYS and TESTS.search(relative):
            # What is new and no code is a report, a log or a copy: no runner loads it.
            return path in self._base or self._is_loaded(relative)
        if owner in NOBODYS and path in self._base and is_code(relative):
            return True
        new = path not in self._base
        if new and owner in NOBODYS and self._is_compiled_along(path):
            return True
        link = vanished or path in self._links
        return decides_by_name(relative) or (new and self._shadows.hides(relative, link=link))

    def _is_compiled_along(self, path: str) -> bool:
        """Whether go takes a new file for a part of a package that was there."""
        folder, _, name = path.rpartition("/")
        if self.framework != "go test" or not name.endswith(".go"):
            return False
        return any(
            each.endswith(".go") and each.rpartition("/")[0] == folder for each in self._base
        )

    def _is_loaded(self, relative: str) -> bool:
        """Whether a new file is such as a runner takes for a test, or make for its rules."""
        name = relative.rpartition("/")[2]
        built = self.framework in MADE and name in MAKEFILES
        link = f"{self.root}/{relative}" in self._links
        return built or link or name.rpartition(".")[2] in CODE

    def _is_nested(self, path: str) -> bool:
        """Whether a package of the runner's would load a file in place of another package."""
        package, nested, _ = path.partition("/node_modules/")[2].partition("/node_modules/")
        return bool(nested) and f"{self._watched.runtime[0]}/{package}/package.json" in self._base

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


def _shadows(base: Baseline, watched: Watched) -> Shadows:
    below, runners = watched.worktree + "/", tuple(f"{each}/" for each in watched.runtime)
    runner = [path for path in base if path.startswith(runners)]
    known = {*runner}
    there = (path for path in base if path.startswith(below) and path not in known)
    return Shadows(watched.framework, (path.removeprefix(below) for path in there), runner)
