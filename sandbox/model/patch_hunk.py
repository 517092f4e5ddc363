"""A hunk of a unified diff: its header, its lines, and what is wrong where the two disagree."""

import re
from dataclasses import dataclass

HEADER = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_SIGNS = (b" ", b"+", b"-")
_SIGNATURE = (b"-- ", b"--")
"""What `git format-patch` writes below the last hunk."""


class PatchError(Exception):
    """The patch cannot be read or does not fit; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place in a file: the lines expected there and those to be there afterwards.

    Lines keep their ends; a last line without one is a file's last line without one.
    """

    number: int
    """In its file, from 1."""
    start: int
    """First line in the old file, from 1; with no old lines, the line after which it adds."""
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]
    added: int
    removed: int


class Reader:
    """The lines of a patch and a place among them."""

    def __init__(self, patch: bytes) -> None:
        self.lines = patch.split(b"\n")
        if not self.lines[-1]:
            self.lines.pop()
        self.place = 0

    @property
    def at_end(self) -> bool:
        """Whether the patch is over."""
        return self.place >= len(self.lines)

    @property
    def header(self) -> bytes:
        """The line at the place, without its end."""
        return b"" if self.at_end else self.lines[self.place].removesuffix(b"\r")

    @property
    def following(self) -> bytes:
        """The line after it; empty where there is none."""
        return self.lines[self.place + 1] if self.place + 1 < len(self.lines) else b""

    def error(self, problem: str) -> PatchError:
        """Say what is wrong with the line at the place."""
        return PatchError(f"line {self.place + 1} of the patch: {problem}")


def read_hunk(reader: Reader, found: re.Match[bytes], number: int) -> Hunk:
    """Read the hunk whose header is at the reader's place; PatchError where it is miscounted."""
    header = reader.place
    old_left, new_left = _stated(found)
    old: list[bytes] = []
    new: list[bytes] = []
    added = removed = 0
    reader.place += 1
    while old_left > 0 or new_left > 0:
        if (line := _line(reader)) is None:
            raise _wrong(reader, header, number, _stated(found))
        sign, text = line
        if sign != b"+":
            old.append(text)
            old_left -= 1
            removed += sign == b"-"
        if sign != b"-":
            new.append(text)
            new_left -= 1
            added += sign == b"+"
        reader.place += 1
        if reader.header.startswith(b"\\"):
            _cut_ends(sign, old, new)
            reader.place += 1
    if old_left or new_left or (_goes_on(reader) and reader.header):
        raise _wrong(reader, header, number, _stated(found))
    return Hunk(number, int(found[1]), tuple(old), tuple(new), added, removed)


def _stated(found: re.Match[bytes]) -> tuple[int, int]:
    """Return how many old and new lines follow, by a hunk's header."""
    old, new = (int(1 if found[group] is None else found[group]) for group in (2, 4))
    return old, new


def _line(reader: Reader) -> tuple[bytes, bytes] | None:
    """Read a hunk's line into its sign and its text; None where it is no such line.

    An editor may have cut a lone blank.
    """
    line = None if reader.at_end else reader.lines[reader.place]
    if line in (b"", b"\r"):
        return b" ", line + b"\n"
    if line is None or line[:1] not in _SIGNS:
        return None
    return line[:1], line[1:] + b"\n"


def _goes_on(reader: Reader) -> bool:
    """Whether a line of a hunk follows, and neither the next file's names nor a signature."""
    line = reader.header
    next_file = line.startswith(b"--- ") and reader.following.startswith(b"+++ ")
    ends = reader.at_end or next_file or line in _SIGNATURE
    return not ends and line[:1] in (*_SIGNS, b"")


def _wrong(reader: Reader, header: int, number: int, stated: tuple[int, int]) -> PatchError:
    """Say by how many lines a hunk's header is wrong, or which line has no place in the hunk."""
    reader.place = header + 1
    signs: list[bytes] = []
    while _goes_on(reader):
        signs.append(reader.header[:1])
        reader.place += 1
        reader.place += reader.header.startswith(b"\\")
    while signs and not signs[-1]:
        signs.pop()
    there = (sum(sign != b"+" for sign in signs), sum(sign != b"-" for sign in signs))
    wrong = [
        f"{abs(said - found)} {kind} {'line' if abs(said - found) == 1 else 'lines'} too "
        f"{'many' if said > found else 'few'}"
        for kind, said, found in zip(("old", "new"), stated, there, strict=True)
        if said != found
    ]
    where = f"line {header + 1} of the patch: the header of hunk {number} counts"
    said = f"it says {stated[0]} old and {stated[1]} new, but {there[0]} and {there[1]} follow"
    if (
        reader.at_end
        or HEADER.match(reader.header)
        or reader.header.startswith((b"--- ", b"diff "))
    ):
        return PatchError(f"{where} {' and '.join(wrong)}: {said}")
    return PatchError(
        f"{where} {' and '.join(wrong)}, or line {reader.place + 1}, which ends the hunk, lacks "
        f"its first sign (` `, `+` or `-`): {said}"
    )


def _cut_ends(sign: bytes, old: list[bytes], new: list[bytes]) -> None:
    """Take the end off the last line: the patch says that the file has none there."""
    if sign != b"+":
        old[-1] = old[-1][:-1]
    if sign != b"-":
        new[-1] = new[-1][:-1]
