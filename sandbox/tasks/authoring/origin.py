"""Where a new repository's releases come from, as an author names it on the command line."""

import re
from dataclasses import dataclass
from typing import Literal

from sandbox.model.errors import UsageError

Registry = Literal["pypi", "npm", "debian", "git"]
FORMS = "pypi:NAME[==VERSION], npm:NAME[@VERSION], debian:SOURCE@SUITE or git:FOLDER[@COMMIT]"
_PATTERNS: dict[Registry, str] = {
    "pypi": r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(==(?P<at>[A-Za-z0-9.+!-]+))?",
    "npm": r"(?P<name>(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*)(@(?P<at>[A-Za-z0-9.+-]+))?",
    "debian": r"(?P<name>[a-z0-9][a-z0-9.+-]+)@(?P<at>[a-z][a-z-]*)",
    "git": r"(?P<name>[^@]+)(@(?P<at>[A-Za-z0-9][A-Za-z0-9._/+-]*))?",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """A package of a registry, or a git repository: a folder or a bundle of this machine."""

    registry: Registry
    name: str
    at: str | None
    """The newest release that is wanted, Debian's suite, or a commit; None for the newest."""


def parse(text: str) -> Origin:
    """Read one; UsageError where it has none of the forms."""
    scheme, _, rest = text.partition(":")
    for registry, pattern in _PATTERNS.items():
        if registry == scheme and (found := re.fullmatch(pattern, rest)) is not None:
            return Origin(registry, found["name"], found["at"])
    raise UsageError(f"{text!r} does not say where releases come from.", f"Write {FORMS}.")
