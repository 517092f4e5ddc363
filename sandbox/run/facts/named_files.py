"""Folders whose tests are all named one by one, as a shell does with `test/*.js`."""

import posixpath
import re
from collections.abc import Iterable

from sandbox.rules.monitors.compiled_arguments import OWN_FILES
from sandbox.rules.monitors.covered_tests import Roots, covers
from sandbox.rules.monitors.pytest_arguments import WITHOUT
from sandbox.rules.monitors.vitest_arguments import PART

TESTS = {
    "pytest": re.compile(r"(.*/)?(test_[^/]*|[^/]*_test)\.py"),
    "tape": re.compile(r".*\.[cm]?js"),
    "node:test": re.compile(r".*\.[cm]?js"),
    "vitest": re.compile(r".*\.(test|spec)\.[cm]?[jt]sx?"),
}
"""By framework whose tests can be named by file: which files of a folder of tests have some."""


def folders_named(roots: Roots, files: Iterable[str], framework: str) -> Roots:
    """Give the folders below which every file of tests is covered, beside what was selected.

    `files` are those of the worktree. The whole of it is nobody's folder of tests.
    """
    tests = TESTS.get(framework)
    if tests is None:
        return ()
    inside = (root.removeprefix(PART) for root in roots if not root.startswith(("/", WITHOUT)))
    own = f"/{OWN_FILES}"
    folders = {
        above
        for root in inside
        if tests.fullmatch(root) or root.endswith(own)
        for above in _above(root)
    }
    if not folders:
        return ()
    left = {
        above
        for path in files
        if tests.fullmatch(path) and not covers(roots, (path,))
        for above in _above(path)
    }
    return tuple(sorted(folders - left))


def _above(path: str) -> Iterable[str]:
    while (path := posixpath.dirname(path)) not in ("", "."):
        yield path
