"""What a command of tape or of node's own runner selects, as `pytest_arguments.py` says it.

Options: tape's `bin/tape`, https://github.com/tape-testing/tape, and
https://nodejs.org/docs/latest-v18.x/api/cli.html
"""

import re
from collections.abc import Sequence

from sandbox.rules.monitors.compiled_arguments import OWN_FILES

_MODULE = frozenset({"-r", "--require", "--import"})
"""Options before a module that is loaded first."""

_REPORTING = re.compile(
    r"--(no-warnings|no-deprecation|pending-deprecation|enable-source-maps|trace-\S+|"
    r"max-old-space-size=\d+|max-semi-space-size=\d+|stack-trace-limit=\d+|"
    r"unhandled-rejections=\w+|test-(reporter|reporter-destination|concurrency)(=\S+)?)"
)
_OF_TAPE = re.compile(r"--(no-only|strict)")
_REPORTERS = frozenset({"spec", "tap", "dot", "junit", "lcov"})
"""Those of node's own."""
_REPORTING_WITH_VALUE = frozenset({"--test-reporter", "--test-reporter-destination"})

_ALL_BELOW = re.compile(r"(?P<folder>[^*?\[\]{}()!+@$`~]*/)?(?P<deep>\*\*/)?\*(\.js)?")
"""A glob over all that is in a folder."""

_FILE = re.compile(r".*\.[cm]?js")
"""What is loaded itself, and not the `index.js` or the package of a folder."""

_EXPANDED = re.compile(r"[*?\[\]{}()$`~]")


def selected_by_tape(words: Sequence[str]) -> tuple[str, ...] | None:
    """Give the paths of a command line, globs over a whole folder as the folder.

    None where less than they may run, and where there are none: tape then runs nothing.
    """
    paths = _operands(words, reporting=False)
    if paths is None or any("*" not in path and not _FILE.fullmatch(path) for path in paths):
        return None
    return _whole(paths) or None


def selected_by_node(words: Sequence[str]) -> tuple[str, ...] | None:
    """Give the paths of `node FILE` and of `node --test`, none for all tests."""
    rest = [word for word in words if word != "--test"]
    paths = _whole(_operands(rest, reporting=True))
    if len(rest) < len(words):
        return paths
    return paths if paths and len(paths) == 1 and _FILE.fullmatch(rest[-1]) else None


def loaded_first(words: Sequence[str]) -> tuple[str, ...]:
    """Give the modules that options have loaded before the tests, or told to report them."""
    found, rest = [], list(words)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name in _MODULE or name == "--test-reporter":
            given = value if equals else rest.pop(0) if rest else ""
            if name in _MODULE or given not in _REPORTERS:
                found.append(given)
    return tuple(found)


def _operands(words: Sequence[str], *, reporting: bool) -> list[str] | None:
    """Leave out the options; None where one is not known to leave every test in."""
    paths, rest = [], list(words)
    while rest:
        word = rest.pop(0)
        if word in _MODULE or (reporting and word in _REPORTING_WITH_VALUE):
            del rest[:1]
        elif not word.startswith("-"):
            paths.append(word)
        elif not (_REPORTING if reporting else _OF_TAPE).fullmatch(word):
            return None
    return paths


def _whole(paths: list[str] | None) -> tuple[str, ...] | None:
    """Give what lies in full below some paths; None where none does, though there are some."""
    if paths is None:
        return None
    found = []
    for path in paths:
        everything = _ALL_BELOW.fullmatch(path)
        if everything:
            here = "." if everything["deep"] else OWN_FILES
            found.append(everything["folder"] or here)
        elif not _EXPANDED.search(path):
            found.append(path)
    return tuple(found) if found or not paths else None
