"""What a command of `make` is about, so that two spellings of one can be told to be the same.

Options: `make --help`, and
https://www.gnu.org/software/make/manual/html_node/Options-Summary.html
"""

import posixpath
import re
from collections.abc import Sequence

_HARMLESS = re.compile(
    r"-[ksBw]*(?:[jOl][0-9]*)?|--(?:keep-going|silent|quiet|always-make|print-directory|"
    r"no-print-directory|jobs(?:=[0-9]+)?|output-sync(?:=\w+)?|trace|warn-undefined-variables)"
)
"""Options with which make makes the same, and ends as it would without: only what it tells, in
which order, and how much it goes on with after a failure, is another."""

_INHERITED = re.compile(
    r"-?[ksBw]*(?:\s+(?:-[jl]\s?[0-9.]*|-O\w*|--jobserver-\S+|--(?:no-)?print-directory))*\s*"
)
"""The same as a make hands it on to another one that it starts."""
_HANDED_ON = frozenset({"MAKEFLAGS", "GNUMAKEFLAGS"})

_FOLDER = re.compile(r"(?:-C|--directory=)(.+)")


def leaves_it(environment: Sequence[tuple[str, str]]) -> bool:
    """Whether these variables let make do the same: options alone, of another make's at that."""
    return all(
        name in _HANDED_ON and _INHERITED.fullmatch(value) is not None
        for name, value in environment
    )


def made_by(words: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """Give folder and goals, with variables, of `make WORDS`; None where an option may matter."""
    folder, goals = "", []
    rest = iter(words)
    for word in rest:
        if word in ("-C", "--directory"):
            folder = posixpath.join(folder, next(rest, ""))
        elif found := _FOLDER.fullmatch(word):
            folder = posixpath.join(folder, found[1])
        elif not word.startswith("-"):
            goals.append(word)
        elif _HARMLESS.fullmatch(word) is None or word == "-":
            return None
    return posixpath.normpath(folder or "."), tuple(goals)
