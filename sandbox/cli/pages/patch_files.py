"""The text of a run's change set, file by file, with whose each file is."""

import re
from dataclasses import dataclass

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
    for line in text.split("\n"):
        if line.startswith("# "):
            owner, _, path = line[2:].partition(": ")
            if owners.get(path) == owner:
                found.append((path, []))
            elif found and not _COUNT.match(line):
                found[-1][1].append(line)
        elif found and line:
            found[-1][1].append(line)
    return [_file(path, owners[path], lines) for path, lines in found]


def _file(path: str, owner: str, lines: list[str]) -> PatchFile:
    def count(sign: str) -> int:
        return sum(line.startswith(sign) and not line.startswith(sign * 3) for line in lines)

    shown = "\n".join(lines[:LINES])
    return PatchFile(path, owner, shown, max(0, len(lines) - LINES), count("+"), count("-"))
