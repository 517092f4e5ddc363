"""Printing for people: colours where a terminal shows them, nothing that could steer it."""

import contextlib
import json
import os
import re
import sys
from typing import IO, TYPE_CHECKING

import typer

from sandbox.model.errors import SandboxError

if TYPE_CHECKING:
    from pydantic import BaseModel

CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""What a terminal obeys, what turns the direction of text, and what cannot be seen."""
LONGEST = 4000
"""Characters of a line that a person is shown."""
COLOURS = {
    "passed": typer.colors.GREEN,
    "ok": typer.colors.GREEN,
    "failed": typer.colors.RED,
    "bad": typer.colors.RED,
    "error": typer.colors.RED,
    "invalid": typer.colors.MAGENTA,
    "warn": typer.colors.YELLOW,
}


def safe(text: str) -> str:
    """Replace control characters, tabs and newlines apart, by their escapes; cut long lines.

    What comes out of a container may hold sequences that move the cursor, change the title or
    reorder the text (CVE-2021-42574); shown like this they do nothing.
    """
    return "\n".join(map(_row, text.split("\n")))


def line(text: str) -> str:
    """Make one line of it: newlines are shown, too."""
    return _row(text.replace("\n", "\\n").replace("\t", " "))


def visible(text: str) -> str:
    """Replace control characters, tabs and newlines apart, by their escapes."""
    return CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _row(text: str) -> str:
    shown = visible(text[:LONGEST])
    if len(text) <= LONGEST and len(shown) <= LONGEST:
        return shown
    return f"{shown[:LONGEST]}… (a line of {len(text):,} characters)"


def document(record: "BaseModel") -> str:
    """Write a record as JSON, in which nothing could steer a terminal."""
    text = record.model_dump_json(indent=1)
    return CONTROL.sub(lambda found: json.dumps(found[0])[1:-1], text)


def coloured(word: str, stream: IO[str] | None = sys.stdout) -> str:
    """Colour a verdict or a state where `stream` is a terminal."""
    if (
        stream is None
        or not stream.isatty()
        or os.environ.get("NO_COLOR")
        or word.strip() not in COLOURS
    ):
        return word
    return typer.style(word, fg=COLOURS[word.strip()])


def complain(error: SandboxError) -> None:
    """Say what happened and what to do next."""
    mutter(f"{coloured('error', sys.stderr)}: {safe(error.message)}\n")
    if error.next_step:
        mutter(f"{safe(error.next_step)}\n")


def mutter(text: str) -> None:
    """Write to standard error; where it is closed or full, nobody is there to be told."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, UnicodeError):
            sys.stderr.write(text)
            sys.stderr.flush()


class Progress:
    """Lines that come as work is done; in a terminal the last one shows what is being done.

    A reader that goes away, or has no room, ends the showing, not the work.
    """

    def __init__(self, stream: IO[str] | None = sys.stderr) -> None:
        """Show on a stream; None is one that is closed."""
        self._stream = stream
        self._live = stream is not None and stream.isatty()
        self._pending = False

    def doing(self, text: str) -> None:
        """Show what has begun; elsewhere than in a terminal, nothing."""
        if self._live:
            self._write(f"\r\x1b[K{line(text)[: width()]} ...")
            self._pending = True

    def done(self, text: str) -> None:
        """Print a line that stays."""
        self._write(f"{self._clear()}{text}\n")

    def close(self) -> None:
        """Take away what `doing` showed."""
        self._write(self._clear())

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        with contextlib.suppress(OSError, UnicodeError):
            self._stream.write(text)
            self._stream.flush()

    def _clear(self) -> str:
        cleared = "\r\x1b[K" if self._pending else ""
        self._pending = False
        return cleared


def width() -> int:
    """Columns that a line may take in the terminal."""
    try:
        return max(40, os.get_terminal_size(sys.stderr.fileno()).columns - 6)
    except (OSError, ValueError):
        return 100


def size(count: int) -> str:
    """A number of bytes for people, in powers of 1,000."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5 or unit == "GB":
            break
        value /= 1000
    # What would be rounded up to 100.0 has its three digits without a fraction.
    return f"{value:.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.1f} {unit}"
