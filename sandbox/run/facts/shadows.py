"""Files that are loaded in place of others because of how they are called.

A module beside a test hides one of the same name elsewhere: Python looks first where the script or
test is (sys.path in the library reference), node in each `node_modules` upwards, C where the file
is that includes.
"""

import sys
from collections.abc import Iterable, Iterator

CODE = frozenset(("py", "pyc", "so", "js", "cjs", "mjs", "ts", "c", "h", "go", "rs"))
"""How files end that programs load, or are made of."""

_STANDARD = sys.stdlib_module_names - {"test"}  # which nothing loads, and scratch files are called
_PACKAGES, _NODE, _PACKAGE = "/site-packages/", "node_modules", "__init__"


class Shadows:
    """What could stand for something else in a worktree."""

    def __init__(self, worktree: Iterable[str], runtime: Iterable[str]) -> None:
        """Take the paths that the image has, relative in the worktree, absolute of the runner."""
        self._folders = {""}
        self._names = {_NODE, *_STANDARD, *(_module(path) for path in runtime)}
        for path in worktree:
            *folders, name = path.split("/")
            self._folders.update("/".join(folders[:depth]) for depth in range(1, len(folders) + 1))
            if is_code(name):
                stem = _stem(name)
                self._names.add(folders[-1] if stem == _PACKAGE and folders else stem)

    def hides(self, path: str) -> bool:
        """Whether a new file, by its relative path, has the name of something that is loaded."""
        return is_code(path) and any(name in self._names for name in self._new_names(path))

    def _new_names(self, path: str) -> Iterator[str]:
        *folders, name = path.split("/")
        yield _stem(name)
        for depth, folder in enumerate(folders, 1):
            if "/".join(folders[:depth]) not in self._folders:
                yield folder


def is_code(path: str) -> bool:
    """Whether a file is such as programs load, by its name."""
    return not CODE.isdisjoint(path.rpartition("/")[2].split(".")[1:])


def _stem(name: str) -> str:
    return name.partition(".")[0]


def _module(path: str) -> str:
    """Return the name by which a file of an environment is loaded."""
    return _stem(path.partition(_PACKAGES)[2].partition("/")[0])
