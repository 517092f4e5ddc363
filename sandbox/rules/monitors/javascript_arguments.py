"""What a command of tape or of node's own runner selects, as `pytest_arguments.py` says it.

Options: tape's `bin/tape`, https://github.com/tape-testing/tape, and
https://nodejs.org/docs/latest-v18.x/api/cli.html
"""

import re
from collections.abc import Sequence

_MODULE = frozenset({"-r", "--require", "--import"})
"""Options before a module that is loaded first."""

_REPORTING = re.compile(
    r"--(no-warnings|no-deprecation|pending-deprecation|enable-source-maps|trace-\S+|"
    r"max-old-space-size=\d+|max-semi-space-size=\d+|stack-trace-limit=\d+|"
    r"unhandled-rejections=\w+|test-(reporter|reporter-destination|concurrency)(=\S+)?)"
)
_OF_TAPE = re.compile(r"--(no-only|strict)")
_REPORTING_WITH_VALUE = frozenset({"--test-reporter", "--test-reporter-destination"})

_ALL_BELOW = re.compile(r"(?P<folder>[^*?\[\]{}()!+@$`~]*/)?(\*\*/)?\*(\.(c|m)?js)?")
"""A glob over all that is in a folder."""

_EXPANDED = re.compile(r"[*?\[\]{}()$`~]")


def selected_by_tape(words: Sequence[str]) -> tuple[str, ...] | None:
    """Give the paths of a command line, globs over a whole folder as the folder.

    None where less than they may run, and where there are none: tape then runs nothing.
    """
    return _whole(_operands(words, reporting=False)) or None


def selected_by_node(words: Sequence[str]) -> tuple[str, ...] | None:
    """Give the paths of `node FILE` and of `node --test`, none for all tests."""
    rest = [word for word in words if word != "--test"]
    paths = _whole(_operands(rest, reporting=True))
    if len(rest) < len(words):
        return paths
    return paths if paths and len(paths) == 1 and _EXPANDED.search(rest[-1]) is None else None


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
            found.append(everything["folder"] or ".")
        elif not _EXPANDED.search(path):
            found.append(path)
    return tuple(found) if found or not paths else None
