"""Files that are loaded in place of others because of how they are called, by framework.

A module beside a test, or where the runner starts, hides one of the same name elsewhere (sys.path
in Python's library reference); node looks in each `node_modules` upwards, and vitest tries suffixes
in an order of its own (`resolve.extensions` of vite); C includes first what lies beside the file.
"""

import sys
from collections.abc import Iterable

from sandbox.container.candidate import decides_by_name

CODE = frozenset(
    ("py", "pyc", "so", "js", "cjs", "mjs", "jsx", "ts", "cts", "mts", "tsx", "c", "h", "go", "rs")
)
"""How files end that programs load, or are made of."""

PYTHON = frozenset(("py", "pyc", "so"))

_STANDARD = sys.stdlib_module_names - {"test"}  # which nothing loads, and scratch files are called
_PACKAGES, _NODE, _PACKAGE = "/site-packages/", "node_modules", "__init__.py"


class Shadows:
    """What could stand for something else in a worktree."""

    def __init__(self, framework: str, worktree: Iterable[str], runtime: Iterable[str]) -> None:
        """Take the paths that the image has, relative in the worktree, absolute of the runner."""
        self._framework = framework
        paths = [tuple(path.split("/")) for path in worktree]
        self._packages = {path[:-1] for path in paths if path[-1] == _PACKAGE}
        self._headers = {path[-1] for path in paths if path[-1].endswith(".h")}
        self._folders = {path[:depth] for path in paths for depth in range(len(path))}
        read = (path for path in paths if is_code(path[-1]) or path[-1].endswith(".json"))
        self._loaded = {_without_suffix(path) for path in read}
        """Files as they are loaded where their suffix is not named."""
        self._starts = {(), ("src",), *(path[:-1] for path in paths if _is_test(path[-1]))}
        """Folders in which Python looks for modules."""
        modules = {path[-1] for path in paths if path[:-1] in self._starts - self._packages}
        packages = {path[-1] for path in self._packages if path[:-1] in self._starts}
        self._modules = {
            *_STANDARD,
            *packages,
            *(_stem(name) for name in modules if is_code(name)),
            *(_module(path) for path in runtime),
        }

    def hides(self, path: str, start: str | None = None, *, link: bool = False) -> bool:
        """Whether a new file, by its relative path, has the name of something that is loaded.

        `start` is a further folder in which modules are looked for, relative as well. A `link` may
        lead to a folder.
        """
        parts = tuple(path.split("/"))
        if self._framework == "pytest":
            further = () if start is None else (tuple(start.split("/")),)
            loaded = link or not PYTHON.isdisjoint(parts[-1].split(".")[1:])
            return loaded and self._hides_a_module(parts, {*self._starts, *further})
        if self._framework in ("make", "unity"):
            return parts[-1] in self._headers
        if self._framework == "vitest" and (link or is_code(path)):
            name = parts if link else _without_suffix(parts)
            if name in self._loaded or name in self._folders:
                return True
        return _NODE in (parts if link else parts[:-1])

    def _hides_a_module(self, parts: tuple[str, ...], starts: set[tuple[str, ...]]) -> bool:
        return any(
            parts[:depth] in starts and _stem(parts[depth]) in self._modules
            for depth in range(len(parts))
            if parts[: depth + 1] not in self._folders
        )


def is_code(path: str) -> bool:
    """Whether a file is such as programs load, by its name."""
    return not CODE.isdisjoint(path.rpartition("/")[2].split(".")[1:])


def _without_suffix(path: tuple[str, ...]) -> tuple[str, ...]:
    return (*path[:-1], path[-1].rpartition(".")[0])


def _is_test(name: str) -> bool:
    return name.startswith("test_") or name.endswith("_test.py") or decides_by_name(name)


def _stem(name: str) -> str:
    return name.partition(".")[0]


def _module(path: str) -> str:
    """Return the name by which a file of an environment is loaded."""
    return _stem(path.partition(_PACKAGES)[2].partition("/")[0])
