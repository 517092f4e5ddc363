"""Hunks onto a content: each where its lines are, byte for byte, nearest to where it says."""

from collections.abc import Iterator, Sequence

from sandbox.model.patch_text import Hunk, PatchError

_SHOWN = 100


def patched(content: bytes, hunks: Sequence[Hunk]) -> bytes:
    """Return the content after all hunks; PatchError names the hunk, the line and the reason."""
    lines = _lines(content)
    result: list[bytes] = []
    done = 0
    shift = 0
    for hunk in hunks:
        place = _find(lines, hunk, done, shift)
        result += lines[done:place]
        result += hunk.new
        done = place + len(hunk.old)
        shift = place - _stated(hunk)
    result += lines[done:]
    for number, line in enumerate(result[:-1], 1):
        if not line.endswith(b"\n"):
            raise PatchError(f"line {number} would have no end, but lines would follow it")
    return b"".join(result)


def _lines(content: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in content.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _stated(hunk: Hunk) -> int:
    """Where it says that it starts, from 0."""
    return hunk.start - 1 if hunk.old else hunk.start


def _find(lines: list[bytes], hunk: Hunk, first: int, shift: int) -> int:
    """Return the place of a hunk at or after `first`."""
    size = len(hunk.old)
    expected = _stated(hunk) + shift
    if not hunk.old:
        if not first <= expected <= len(lines):
            raise PatchError(
                f"hunk {hunk.number} adds after line {expected}, "
                f"but the file has {len(lines)} lines or an earlier hunk ends later"
            )
        return expected
    old = list(hunk.old)
    for place in _nearest(expected, first, len(lines) - size):
        if lines[place] == old[0] and lines[place : place + size] == old:
            return place
    raise PatchError(_mismatch(lines, hunk, max(first, expected)))


def _nearest(wanted: int, first: int, last: int) -> Iterator[int]:
    """Yield the numbers from `first` to `last` by their distance, smaller ones before larger."""
    below = min(wanted, last)
    above = max(below + 1, first)
    while below >= first or above <= last:
        if below >= first and (above > last or wanted - below <= above - wanted):
            yield below
            below -= 1
        else:
            yield above
            above += 1


def _mismatch(lines: list[bytes], hunk: Hunk, place: int) -> str:
    """Say what the first line that differs should be where the hunk says it is."""
    start = f"hunk {hunk.number} does not fit anywhere in the file"
    if lines[place : place + len(hunk.new)] == list(hunk.new) and hunk.new:
        return f"{start}: its new lines are already there, at line {place + 1}"
    for offset, line in enumerate(hunk.old):
        number = place + offset
        if number >= len(lines):
            return f"{start}: line {number + 1} should be {_shown(line)}, but the file ends before"
        if lines[number] != line:
            there = _shown(lines[number])
            return f"{start}: line {number + 1} should be {_shown(line)}, but is {there}"
    return f"{start} after the hunk before it"


def _shown(line: bytes) -> str:
    ended = line.endswith(b"\n")
    text = repr(line.removesuffix(b"\n").decode("utf-8", "backslashreplace"))
    short = text if len(text) <= _SHOWN else text[: _SHOWN - 4] + "...'"
    return short if ended else f"{short} without an end of line"
