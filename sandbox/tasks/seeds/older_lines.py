"""In which older releases a defect can be planted as well, so that no history shows the fix."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from sandbox.model.seed import CONTEXT, Edit, OlderLines
from sandbox.tasks.drafts import seed_patches
from sandbox.tasks.seeds.mined_repository import MinedRepository

Place = tuple[str, int]
"""The file in which lines stand, and how many around stand there as well."""


def older_lines(mined: MinedRepository, edits: Sequence[Edit]) -> tuple[OlderLines, ...]:
    """Find the lines of a defect in the releases before, from the last one back to where they end.

    Each hunk has to stand in a file once and no more: the same file, or one that is called
    otherwise, where there is no other.
    """
    return tuple(
        lines
        for path in sorted({edit.path for edit in edits})
        for lines in _of_file(mined, [edit for edit in edits if edit.path == path], path)
    )


def _of_file(mined: MinedRepository, edits: list[Edit], path: str) -> Iterator[OlderLines]:
    places = []
    for version, files in mined.older:
        place = _place(files, edits, path)
        if place is None:
            break
        places.append((version, place))
    for (was, context), run in groupby(places, key=lambda each: each[1]):
        versions = [version for version, _ in run]
        yield OlderLines(
            path=path,
            was="" if was == path else was,
            since=versions[-1],
            until=versions[0],
            context=context,
        )


def _place(files: Mapping[str, bytes], edits: list[Edit], path: str) -> Place | None:
    """Say where all hunks stand; with as many lines around as there can be."""
    for context in range(CONTEXT, 0, -1):
        hunks = [text.encode() for text in seed_patches.replaced(edits, context)]
        names = [path] if path in files else files
        found = [name for name in names if all(_stands_once(files[name], each) for each in hunks)]
        if len(found) == 1:
            return found[0], context
    return None


def _stands_once(data: bytes, lines: bytes) -> bool:
    return len(re.findall(rb"^" + re.escape(lines), data, re.MULTILINE)) == 1
