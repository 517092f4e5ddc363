"""The commands that a person typed in a recording, as the terminal showed them.

What was typed is not in a recording, but its echo is: the line that stood at the prompt when Enter
was pressed, completions and corrections included. Where a line is edited is marked by shells that
switch bracketed paste on and off (`ESC [ ? 2004 h` and `l`: bash from 5.1, zsh, fish); of others a
piece of output that ends with a prompt tells that the shell waits.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from posixpath import basename

import pyte

from sandbox.model.errors import UsageError
from sandbox.model.shell import reader
from sandbox.model.shell.table import shipped
from sandbox.rules.policy.invocation import readings
from sandbox.rules.policy.reading import only_reads
from sandbox.tasks.imports.casts import Cast

PROMPT = r"(?s:.*?)(?P<mark>[$#%❯➜»>]) "  # noqa: RUF001 - as shells write it
"""A prompt ends with such a sign and a space."""
ROWS, LONGEST = 400, 1 << 18
"""Lines that one command may take on the screen, and characters that may draw it."""
VIEWERS = frozenset(("bat", "less", "man", "more", "most"))
"""Use the whole screen to show something, and change nothing by it."""
LEAVING = ("exit", "logout")
CANCELLED, ESCAPE = "^C", "^["
"""What a terminal shows of keys that no line is made of."""

_EDITING = re.compile(r"\x1b\[\?2004([hl])")
_MORE = re.compile(r"(?:[a-z]+ )*(?:[a-z]+)?> ?")
"""The prompt for the rest of a command."""
_STEERING = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()].|[=>78])|\r")
_WHOLE_SCREEN = re.compile(r"\x1b\[\?(?:47|1047|1049)h")


@dataclass(frozen=True, slots=True)
class Typed:
    """A command, and what the terminal showed until the next one."""

    line: str
    printed: str

    @property
    def cancelled(self) -> bool:
        """Whether Ctrl-C ended it, or the line before it was run."""
        shown = _STEERING.sub("", self.printed[: self.printed.rfind("\n") + 1]).rstrip()
        return self.line.endswith(CANCELLED) or shown.endswith(CANCELLED)

    @property
    def silent(self) -> bool:
        """Whether nothing was shown but the next prompt, which has no end of a line behind it."""
        return not self.printed[: self.printed.rfind("\n") + 1].strip("\r\n ")


@dataclass(frozen=True, slots=True)
class _Edit:
    """What stood at the cursor's line when Enter was pressed, prompt included."""

    shown: str
    printed: str


class _Screen(pyte.Screen):
    """One that knows which of its lines go on in the next."""

    def __init__(self, columns: int, lines: int) -> None:
        super().__init__(columns, lines)
        self.wrapped: set[int] = set()

    def draw(self, data: str) -> None:
        for char in data:
            if self.cursor.x == self.columns:
                self.wrapped.add(self.cursor.y)
            super().draw(char)

    def text(self) -> str:
        """Give what is shown, each line that wraps as one."""
        rows: list[str] = list(self.display)
        last = max((number for number, row in enumerate(rows) if row.strip()), default=-1)
        whole = "".join(
            row if number in self.wrapped else f"{row.rstrip()}\n"
            for number, row in enumerate(rows[: last + 1])
        )
        return whole.rstrip("\n")


def typed(cast: Cast, prompt: str | None = None) -> tuple[Typed, ...]:
    """Give the commands of a recording, in order, without empty and cancelled ones.

    `prompt` is a regular expression for the shell's prompt. UsageError where none is found, and
    where something was typed into a program that a command had started.
    """
    pattern = _compiled(prompt)
    whole = "".join(cast.printed)
    marked = _EDITING.search(whole) is not None
    edits = _marked(whole, cast.width) if marked else _waiting(cast, pattern)
    found = list(_commands(edits, pattern))
    while found and found[-1].line in LEAVING:
        found.pop()
    if not found:
        raise UsageError(
            "No command is found in the recording.",
            "Say by --prompt how its shell asks, as a regular expression.",
        )
    for each in found:
        _refuse_a_whole_screen(each)
    return tuple(found)


def _compiled(prompt: str | None) -> re.Pattern[str]:
    try:
        return re.compile(PROMPT if prompt is None else prompt)
    except re.error as error:
        raise UsageError(f"--prompt is not a regular expression: {error}.") from error


def _marked(whole: str, width: int) -> Iterator[_Edit]:
    """Yield each line that was edited between the two marks."""
    before, *rest = _EDITING.split(whole)
    shown: str | None = None
    for mark, text in zip(rest[::2], rest[1::2], strict=True):
        if mark == "h":
            # Of a prompt that is printed before the mark, as zsh does, the last line counts.
            shown = _rendered(before.rpartition("\n")[2] + text, width)
        elif shown is not None:
            yield _Edit(shown, text)
            shown = None
        before = text


def _waiting(cast: Cast, pattern: re.Pattern[str]) -> Iterator[_Edit]:
    """Yield each line at which the shell waited, of one that marks nothing."""
    line, shown, printed = "", "", ""
    editing = False
    for piece in cast.printed:
        for text in piece.splitlines(keepends=True):
            line += text
            if not text.endswith("\n"):
                continue
            if editing:
                if shown:
                    yield _Edit(shown, printed)
                shown, printed, editing = _rendered(line, cast.width), "", False
            else:
                printed += line
            line = ""
        if not editing:
            asked = _STEERING.sub("", line[-LONGEST:])
            editing = bool(pattern.fullmatch(asked) or _MORE.fullmatch(asked))
    if shown:
        yield _Edit(shown, printed)


def _rendered(text: str, width: int) -> str:
    if len(text) > LONGEST:
        raise UsageError(
            f"A line of the recording has more than {LONGEST} characters.", "Record less at once."
        )
    screen = _Screen(width, min(ROWS, 2 + text.count("\n") + len(text) // width))
    pyte.Stream(screen).feed(text)
    return screen.text()


def _commands(edits: Iterable[_Edit], pattern: re.Pattern[str]) -> Iterator[Typed]:
    """Tell commands, what goes on from the line before, and what no shell asked for."""
    mark: str | None = None
    last: Typed | None = None
    for edit in edits:
        if not edit.shown.strip():
            continue
        asked = pattern.match(f"{edit.shown} ")
        more = _MORE.match(edit.shown)
        if last is not None and more is not None and last.silent:
            last = Typed(f"{last.line}\n{edit.shown[more.end() :]}", edit.printed)
            continue
        said = asked.groupdict().get("mark") if asked is not None else None
        if asked is None or (mark is not None and said != mark):
            raise UsageError(
                f"Something was typed where no shell asked: {edit.shown[:80]!r}.",
                "Record commands alone, without programs that ask; --prompt says how a shell asks.",
            )
        mark = said
        if last is not None and _is_one(last):
            yield last
        last = Typed(edit.shown[asked.end() :].strip(), edit.printed)
    if last is not None and _is_one(last):
        yield last


def _is_one(typed: Typed) -> bool:
    return bool(typed.line) and not typed.cancelled and ESCAPE not in typed.line


def _refuse_a_whole_screen(typed: Typed) -> None:
    """Refuse an editor's work, which is nowhere in the recording as a command."""
    if _WHOLE_SCREEN.search(typed.printed) is None:
        return
    if not _only_shows(typed.line):
        raise UsageError(
            f"`{typed.line[:80]}` took the whole screen: what was done there is no command.",
            "Record it again without an editor, for example with `git commit -m` or `sed -i`.",
        )


def _only_shows(line: str) -> bool:
    """Whether each program of a line is known to change nothing."""
    table = shipped()
    started = [each.started for each in reader.programs(line, table)]
    return bool(started) and all(
        basename(each.program) in VIEWERS
        or any(only_reads(call) for call in readings(each, table, lambda _: None))
        for each in started
    )
