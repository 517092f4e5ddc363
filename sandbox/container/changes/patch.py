"""A change set as a unified diff for people. It is read, never applied.

Names and lines are an agent's: control characters, terminal escapes and marks that turn the
direction of text are shown as escapes.
"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal, Protocol

from sandbox.model import path_text as paths
from sandbox.model.change import Change, FileState, Owner
from sandbox.model.session import FileKind

FILE_LIMIT = 1 << 20
"""Bytes of the largest file that is shown."""

TOTAL_LIMIT = 16 << 20
"""Bytes of text that are compared for one patch."""

COMPARED_LINES = 3000
"""Lines, beyond what begins and ends alike, that are matched; more are shown as replaced."""

CONTEXT = 3

UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)

Codes = list[tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]]

SHOWN = frozenset((Owner.MUST, Owner.MAY, Owner.USER, Owner.NEVER, Owner.COLLATERAL))


class Contents(Protocol):
    """Where the content of changed regular files is read; None where it is not kept."""

    def read_before(self, path: bytes, limit: int) -> bytes | None:
        """Read some bytes of a file as it was."""

    def read_after(self, path: bytes, limit: int) -> bytes | None:
        """Read some bytes of a file as it is."""


def render(changes: tuple[Change, ...], contents: Contents) -> str:
    """Show all changes but git's own files and generated ones, which are counted."""
    lines: list[str] = []
    left = TOTAL_LIMIT
    for change in changes:
        if change.owner in SHOWN:
            sizes = [state.size for state in (change.before, change.after) if state is not None]
            left -= min(sum(sizes), 2 * FILE_LIMIT)
            lines.extend(_file(change, contents if left > 0 else None))
    for owner, words in ((Owner.GENERATED, "generated"), (Owner.GIT, "in git's own folder")):
        count = sum(change.owner is owner for change in changes)
        if count:
            lines.append(f"# {count} {'path' if count == 1 else 'paths'} {words}, not shown")
    return "".join(line + "\n" for line in lines)


def safe(text: str) -> str:
    """Show what a terminal would obey, and what no file could hold, as escapes."""
    return UNSAFE.sub(
        lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text
    )


def name_of(path: str) -> str:
    """Spell a path as the heads of a patch do, on one line."""
    return safe(path).replace("\n", "\\n").replace("\t", "\\t")


def _file(change: Change, contents: Contents | None) -> Iterator[str]:
    name = name_of(change.path)
    before, after = change.before, change.after
    yield f"# {change.owner}: {name}"
    yield from _status(before, after)
    if not any(state and state.kind is FileKind.FILE for state in (before, after)):
        return
    if before and after and before.digest == after.digest and before.digest:
        return
    path = paths.raw(change.path)
    unknown = _regular(after) and after is not None and after.digest is None
    if unknown or contents is None or _too_large(before) or _too_large(after):
        yield "# not shown: too large, or too deep in folders"
        return
    old = contents.read_before(path, FILE_LIMIT) if _regular(before) else b""
    new = contents.read_after(path, FILE_LIMIT) if _regular(after) else b""
    if old is None or new is None:
        yield "# its content before is not kept"
        return
    try:
        texts = old.decode("utf-8"), new.decode("utf-8")
    except UnicodeDecodeError:
        yield "# not text"
        return
    if "\0" in texts[0] or "\0" in texts[1]:
        yield "# not text"
        return
    yield f"--- {name if before else '/dev/null'}"
    yield f"+++ {name if after else '/dev/null'}"
    yield from _hunks(_lines(texts[0]), _lines(texts[1]))


def _regular(state: FileState | None) -> bool:
    return state is not None and state.kind is FileKind.FILE


def _too_large(state: FileState | None) -> bool:
    return state is not None and state.size > FILE_LIMIT


def _status(before: FileState | None, after: FileState | None) -> Iterator[str]:
    """Say in words what no diff of text shows."""
    if before is None and after is not None:
        yield f"# added: {_words(after)}"
    elif before is not None and after is None:
        yield f"# deleted: {_words(before)}"
    elif before is not None and after is not None and _words(before) != _words(after):
        yield f"# was {_words(before)}, is {_words(after)}"


def _words(state: FileState) -> str:
    link = f" to {safe(state.target)!r}" if state.target is not None else ""
    owner = "" if state.uid == state.gid == 10001 else f" of {state.uid}:{state.gid}"
    return f"{state.kind.replace('_', ' ')}{link}, mode {state.mode:o}{owner}"


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return lines


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    """Write the hunks of a unified diff."""
    for group in _Matched(_opcodes(old, new)).get_grouped_opcodes(CONTEXT):
        (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = group[0], group[-1]
        yield f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@"
        for tag, first, last, other_first, other_last in group:
            if tag == "equal":
                yield from _marked(" ", old[first:last])
            else:
                yield from _marked("-", old[first:last])
                yield from _marked("+", new[other_first:other_last])


class _Matched(SequenceMatcher[str]):
    """What is already matched, to be put into groups with context."""

    def __init__(self, codes: Codes) -> None:
        super().__init__(None, [], [])
        self._codes = codes

    def get_opcodes(self) -> Codes:
        return self._codes


def _opcodes(old: list[str], new: list[str]) -> Codes:
    """Match lines: what begins and ends alike at once, the rest by search while that is quick."""
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    ends = len(old) - tail, len(new) - tail
    middle_old, middle_new = old[head : ends[0]], new[head : ends[1]]
    if max(len(middle_old), len(middle_new)) > COMPARED_LINES:
        middle: Codes = [("replace", 0, len(middle_old), 0, len(middle_new))]
    else:
        middle = SequenceMatcher(None, middle_old, middle_new).get_opcodes()
    codes: Codes = [("equal", 0, head, 0, head)] if head else []
    codes += [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in middle]
    return [*codes, ("equal", ends[0], len(old), ends[1], len(new))] if tail else codes


def _marked(mark: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield mark + "\n".join(safe(part) for part in line.split("\n"))


def _range(start: int, end: int) -> str:
    """Write a range of lines as `diff -u` does: from 1, and from 0 where it is empty."""
    length = end - start
    first = start + 1 if length else start
    return str(first) if length == 1 else f"{first},{length}"
