"""A seed as patches: the defect, and the way back, with the lines around it that were written down.

No source is needed for it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby

from sandbox.model.seed import Edit
from sandbox.tasks.differences import lines_of, marked

AnyLine = tuple[str, str]
"""How a patch marks a line, and the line."""


def patch(edits: Iterable[Edit], *, back: bool) -> str:
    """Write what leads from the release to the defect, or back to the release, as git does."""
    by_file = defaultdict(list)
    for edit in edits:
        by_file[edit.path].append(edit)
    return "".join(
        f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
        + "".join(_hunks(sorted(by_file[path], key=lambda each: each.line), back=back))
        for path in sorted(by_file)
    )


def replaced(edits: Iterable[Edit], context: int) -> list[str]:
    """Give the lines of the release that each hunk of one file stands for, with some around."""
    own = sorted(narrowed(edits, context), key=lambda each: each.line)
    return [
        "".join(line for sign, line in lines if sign != "+") for _, lines in _runs(*_lines(own))
    ]


def narrowed(edits: Iterable[Edit], context: int) -> list[Edit]:
    """Give edits with at most so many lines above and below; one at least."""
    return [
        edit.model_copy(
            update={
                "above": "".join(edit.above.splitlines(keepends=True)[-context:]),
                "below": "".join(edit.below.splitlines(keepends=True)[:context]),
            }
        )
        for edit in edits
    ]


def _hunks(edits: list[Edit], *, back: bool) -> Iterator[str]:
    """Write the edits of a file, those together whose lines meet."""
    grown = 0
    for start, lines in _runs(*_lines(edits)):
        old, new = (sum(sign != other for sign, _ in lines) for other in "+-")
        changed = start + grown
        grown += new - old
        yield _hunk(lines, (start, old), (changed, new), back=back)


def _runs(
    kept: dict[int, AnyLine], added: dict[int, list[AnyLine]]
) -> Iterator[tuple[int, list[AnyLine]]]:
    """Give lines that follow each other, with what is added among them, and where they begin."""
    for _, run in groupby(enumerate(sorted(kept)), key=lambda each: each[1] - each[0]):
        numbers = [number for _, number in run]
        lines = [line for number in numbers for line in (*added.get(number, ()), kept[number])]
        lines += added.get(numbers[-1] + 1, ())
        yield numbers[0], lines


def _lines(edits: list[Edit]) -> tuple[dict[int, AnyLine], dict[int, list[AnyLine]]]:
    """Give the release's lines by their numbers, and what the defect has before each."""
    kept: dict[int, AnyLine] = {}
    added: dict[int, list[AnyLine]] = {}
    for edit in edits:
        above, before, below = (
            lines_of(text.encode()) for text in (edit.above, edit.before, edit.below)
        )
        end = edit.line + len(before)
        around = [*enumerate(above, edit.line - len(above)), *enumerate(below, end)]
        for number, line in around:
            kept.setdefault(number, (" ", line))
        kept.update((number, ("-", line)) for number, line in enumerate(before, edit.line))
        added[end] = [("+", line) for line in lines_of(edit.after.encode())]
    return kept, added


def _hunk(
    lines: list[AnyLine], before: tuple[int, int], after: tuple[int, int], *, back: bool
) -> str:
    if back:
        before, after = after, before
        lines = list(_removed_first(lines))
    head = f"@@ -{before[0]},{before[1]} +{after[0]},{after[1]} @@\n"
    return head + "".join(marked(f"{sign}{line}") for sign, line in lines)


def _removed_first(lines: list[AnyLine]) -> Iterator[AnyLine]:
    """Take changes the other way, with what goes before what comes, as patches are written."""
    other = {"+": "-", "-": "+", " ": " "}
    for context, group in groupby(lines, key=lambda each: each[0] == " "):
        turned = [(other[sign], line) for sign, line in group]
        yield from turned if context else sorted(turned, key=lambda each: each[0] == "+")
