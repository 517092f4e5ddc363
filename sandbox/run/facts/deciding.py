"""Which paths decide what a run of tests says, and are neither the agent's work nor caches."""

import re
from collections.abc import Callable

from sandbox.container.candidate import decides_by_name
from sandbox.model.change import WORK, Owner
from sandbox.run.facts.baseline import Baseline, Held, Watched
from sandbox.run.facts.shadows import CODE, Shadows, is_code

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


class Deciding:
    """Knows a path by its name, by what stood there, and by what was ever seen to stand there."""

    def __init__(
        self,
        base: Baseline,
        watched: Watched,
        owner: Callable[[str], Owner],
        is_seen: Callable[[str], bool],
        plugs_in: Callable[[str], bool],
        sets_nothing: Callable[[str], bool],
    ) -> None:
        """Know what there was, whose a path is, and whether it is more than some tool's file.

        `plugs_in` reads whether a file names plugins of the test runner, `sets_nothing` whether one
        of its settings leaves it as it is.
        """
        self._base, self._watched = base, watched
        self._owner, self._is_seen = owner, is_seen
        self._plugs_in, self._sets_nothing = plugs_in, sets_nothing
        self._harmless = set[str]()
        """Files of settings that leave the runner as it is."""
        self._plugins, self._links = set[str](), set[str]()
        """Paths that were ever a file that names plugins, or a link, since the start."""
        self._shadows = _shadows(base, watched)

    def rebase(self, base: Baseline) -> None:
        """Take something else as what there was at the start."""
        self._base = base

    def hides(self, relative: str, start: str) -> bool:
        """Whether a new file stands for another one where modules are looked for in `start`."""
        link = f"{self._watched.worktree}/{relative}" in self._links
        return self._shadows.hides(relative, start, link=link)

    def look(self, path: str, new: Held) -> None:
        """Keep what a link may lead to, and a file says, for as long as a run of tests may last."""
        if new.kind == "link":
            self._links.add(path)
        elif path.endswith(PLUGINS) and self._plugs_in(path):
            self._plugins.add(path)
        elif self._watched.is_settings(path) and self._sets_nothing(path):
            self._harmless.add(path)
        else:
            self._harmless.discard(path)

    def decides(self, path: str, *, vanished: bool = False) -> bool:
        """Whether the outcome of a test run may be this path's doing, and not the agent's work.

        Of what has `vanished` nothing is known but its path.
        """
        relative = path.removeprefix(f"{self._watched.worktree}/")
        if relative.startswith(".git/"):
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
        owner = self._owner(path)
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
        if self._watched.framework != "go test" or not name.endswith(".go"):
            return False
        return any(
            each.endswith(".go") and each.rpartition("/")[0] == folder for each in self._base
        )

    def _is_loaded(self, relative: str) -> bool:
        """Whether a new file is such as a runner takes for a test, or make for its rules."""
        name = relative.rpartition("/")[2]
        built = self._watched.framework in MADE and name in MAKEFILES
        link = f"{self._watched.worktree}/{relative}" in self._links
        return built or link or name.rpartition(".")[2] in CODE

    def _is_nested(self, path: str) -> bool:
        """Whether a package of the runner's would load a file in place of another package."""
        package, nested, _ = path.partition("/node_modules/")[2].partition("/node_modules/")
        return bool(nested) and f"{self._watched.runtime[0]}/{package}/package.json" in self._base


def _shadows(base: Baseline, watched: Watched) -> Shadows:
    below, runners = watched.worktree + "/", tuple(f"{each}/" for each in watched.runtime)
    runner = [path for path in base if path.startswith(runners)]
    known = {*runner}
    there = (path for path in base if path.startswith(below) and path not in known)
    return Shadows(watched.framework, (path.removeprefix(below) for path in there), runner)
