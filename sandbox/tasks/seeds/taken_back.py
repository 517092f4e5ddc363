"""Upstream's own changes between two releases, each taken back for itself."""

import difflib
from collections.abc import Iterator

from sandbox.tasks.differences import lines_of
from sandbox.tasks.seeds.languages import Source
from sandbox.tasks.seeds.mutations import Change, Mutation

KIND = "taken-back"
LINES = 30
"""A change of more lines is a rewrite, not a fix."""


def taken_back(older: bytes, source: Source) -> Iterator[Mutation]:
    """Yield each change of a file since an older release, as the mutation that undoes it."""
    before, now = lines_of(older), lines_of(source.data)
    starts = [0]
    for line in now:
        starts.append(starts[-1] + len(line.encode()))
    matcher = difflib.SequenceMatcher(None, before, now, autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag == "equal" or max(last - first, end - start) > LINES:
            continue
        change = Change(starts[start], starts[end], "".join(before[first:last]))
        yield Mutation(KIND, source.path, source.function_at(starts[start]), (change,))
