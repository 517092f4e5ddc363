"""The text of a run's change set, file by file, with whose each file is."""

import re
from dataclasses import dataclass

from sandbox.model.change import Owner

OWNERS = frozenset(map(str, Owner))
_COUNT = re.compile(r"# \d+ paths? ")
"""How a patch ends: with what it does not show."""
LINES = 2_000
"""Of one file's difference that are shown."""


@dataclass(frozen=True, slots=True)
class PatchFile:
    """What differs in one file."""

    path: str
    owner: str
    text: str
    left_out: int
    added: int
    removed: int


def patch_files(text: str, owners: dict[str, str]) -> list[PatchFile]:
    """Split a patch at its lines `# owner: path`; lines of content begin with another sign.

    `owners` has the paths that can be: a comment that names none of them ends the last file.
    """
    found: list[tuple[str, list[str]]] = []
    known = False
    for line in text.split("\n"):
        owner, _, path = line.removeprefix("# ").partition(": ")
        if line.startswith("# ") and owner in OWNERS:
            known = owners.get(path) == owner
            if known:
                found.append((path, []))
        elif known and line and not _COUNT.match(line):
            found[-1][1].append(line)
    return [_file(path, owners[path], lines) for path, lines in found]


def _file(path: str, owner: str, lines: list[str]) -> PatchFile:
    first = next((place for place, line in enumerate(lines) if line.startswith("@@")), len(lines))

    def count(sign: str) -> int:
        return sum(line.startswith(sign) for line in lines[first:])

    shown = "\n".join(lines[:LINES])
    return PatchFile(path, owner, shown, max(0, len(lines) - LINES), count("+"), count("-"))
