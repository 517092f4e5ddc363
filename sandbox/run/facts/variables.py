"""Variables of an environment by which a run of tests is another one than its words say."""

import posixpath
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from sandbox.model import documents
from sandbox.model import path_text as paths
from sandbox.model.base import Record
from sandbox.model.errors import UndecidedError
from sandbox.model.patterns import expression
from sandbox.model.session import WRITABLE


class Harmless(Record):
    """Which values leave a run of tests what it is."""

    harmless: dict[str, str]
    """By variable, in capitals: an expression that matches the whole value."""
    folders: tuple[str, ...]
    """Variables that hold folders, with colons between them."""
    only: dict[str, tuple[str, ...]]
    """By variable: the test frameworks whose runner reads it, where others do not."""


def pairs(environment: Iterable[bytes]) -> tuple[tuple[str, str], ...]:
    """Give names and values of what an exec is told with."""
    split = (paths.text(each).partition("=") for each in environment)
    return tuple((name, value) for name, _, value in split)


def misleading(
    environment: Iterable[tuple[str, str]], worktree: str, cwd: str, framework: str = "pytest"
) -> tuple[str, ...]:
    """Name the variables that may make a run of tests by a framework prove nothing."""
    known = _known()
    found = []
    for name, value in environment:
        if not value or framework not in known.only.get(name, (framework,)):
            continue
        if name in known.folders:
            harmless = all(_is_own(each, worktree, cwd) for each in value.split(":"))
        else:
            harmless = _matches(known.harmless.get(name.upper()), value)
        if not harmless:
            found.append(f"${name}")
    return tuple(found)


def _matches(pattern: str | None, value: str) -> bool:
    """Whether a value is harmless; one on which a search never ends is not."""
    try:
        return pattern is not None and expression(pattern).fullmatch(value)
    except UndecidedError:
        return False


def _is_own(folder: str, worktree: str, cwd: str) -> bool:
    """Whether what lies in a folder is the repository's, or root's."""
    place = posixpath.normpath(posixpath.join(cwd, folder)) + "/"
    return place.startswith(worktree + "/") or not place.startswith(WRITABLE)


@lru_cache(maxsize=1)
def _known() -> Harmless:
    return documents.load(Path(__file__).with_name("variables.yaml"), Harmless)
