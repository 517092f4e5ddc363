"""A shell line taken apart into its simple commands, as far as that is safe without a shell.

Quoting is understood, expansions are not: a word with one stays as it is written. What stands in
a here-document is no command. A line that cannot be read has no commands.

The grammar is that of POSIX, "Shell Command Language", 2.2 to 2.10, with bash's `&>`, `<<<`,
`|&`, `;&` and `$'...'`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r]+|\\\n|(?<![^\s;&|()`])\#[^\n]*)
    |(?P<redirection>\d*(?:&>>?|<<<|<<-?|<>|[<>]&|>>|>\||[<>]))
    |(?P<operator>&&|\|\||;;&?|;&|\|&|[;&|()\n`])
    |(?P<word>(?:\$'(?:\\.|[^'\\])*'|'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\;&|()<>`])+)""",
    re.VERBOSE | re.DOTALL,
)
_PIECE = re.compile(
    r"""\$'(?P<ansi>(?:\\.|[^'\\])*)'|'(?P<single>[^']*)'|"(?P<double>(?:\\.|[^"\\])*)"
    |\\(?P<escaped>.)|(?P<plain>[^'"\\$]+|\$)""",
    re.VERBOSE | re.DOTALL,
)
_IN_DOUBLE_QUOTES = re.compile(r'\\(?:([$`"\\])|\n)')
_ANSI_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))", re.DOTALL)
_ANSI_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ANSI_LETTERS["v"] = "\v"
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_NAMES = re.compile(r"[A-Za-z_][\w-]*")

KEYWORDS = frozenset(("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!",
                      "{", "}", "coproc", "esac"))  # fmt: skip
"""Reserved words in front of a command."""
HEADS = frozenset(("for", "select", "case", "function"))
"""Reserved words whose own words are no command."""
LONGEST = 1 << 16
"""Characters of a line that is still taken apart."""


@dataclass(frozen=True, slots=True)
class Redirection:
    """One redirection of a command."""

    operator: str
    """With the number of the descriptor, where that is written: `2>`."""
    target: str

    @property
    def kind(self) -> str:
        """The operator without the number of a descriptor."""
        return self.operator.lstrip("0123456789")


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One simple command of a line."""

    words: tuple[str, ...]
    """Without quotes, redirections, reserved words and assignments; empty for `fi` alone."""
    environment: tuple[tuple[str, str], ...]
    """Variables that are set for it alone."""
    before: str
    """The operator in front of it; empty for the first."""
    after: str
    """The operator behind it; empty for the last."""
    keywords: tuple[str, ...] = ()
    """Reserved words in front of it, such as `if` or `then`."""
    redirections: tuple[Redirection, ...] = ()
    substitutes: bool = False
    """Whether commands stand in its quotes, `"$(...)"`, which are not read."""


@dataclass(slots=True)
class _Raw:
    """A command while it is read: its words as they are written."""

    before: str
    words: list[str] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.words or self.redirections)


@lru_cache(maxsize=4096)
def simple_commands(line: str) -> tuple[ShellCommand, ...]:
    """Take a line apart."""
    if len(line) > LONGEST:
        return ()
    found = _read(line)
    return () if found is None else tuple(_without_heads(_joined(found)))


def _read(line: str) -> list[_Raw] | None:
    """Split a line into words at its operators; None where a quote is left open."""
    found = [_Raw("")]
    redirection: str | None = None
    bodies: list[tuple[str, bool]] = []
    place = 0
    while place < len(line):
        token = _TOKEN.match(line, place)
        if token is None:
            return None
        place = token.end()
        match token.lastgroup:
            case "operator":
                redirection = None
                found.append(_Raw(token[0]))
                if token[0] == "\n":
                    place = _behind_bodies(line, place, bodies)
                    bodies = []
            case "redirection":
                redirection = token[0]
            case "word" if redirection is None:
                found[-1].words.append(token[0])
            case "word":
                target = Redirection(redirection or "", unquoted(token[0]))
                if target.kind in ("<<", "<<-"):
                    bodies.append((target.target, target.kind == "<<-"))
                found[-1].redirections.append(target)
                redirection = None
    return found


def _behind_bodies(line: str, place: int, bodies: list[tuple[str, bool]]) -> int:
    """Return the place behind the here-documents that start at a place."""
    for delimiter, indented in bodies:
        while place < len(line):
            end = line.find("\n", place)
            end = len(line) if end < 0 else end
            row = line[place:end]
            place = end + 1
            if (row.lstrip("\t") if indented else row) == delimiter:
                break
    return min(place, len(line))


def _joined(found: list[_Raw]) -> list[ShellCommand]:
    """Give each command the operators around it; of several, such as `;` and a newline, all."""
    kept: list[_Raw] = []
    operators = ""
    for raw in found:
        operators = _merged(operators, raw.before)
        if not raw.empty:
            kept.append(replace(raw, before=operators))
            operators = ""
    end = operators if operators.strip("\n;") else ""
    afters = [*(raw.before for raw in kept[1:]), end]
    return [_command(raw, after) for raw, after in zip(kept, afters, strict=False)]


def _merged(one: str, other: str) -> str:
    return other if one in ("", "\n") else one if other == "\n" else one + other


def _command(raw: _Raw, after: str) -> ShellCommand:
    words = list(raw.words)
    keywords: list[str] = []
    while words and words[0] in KEYWORDS | HEADS:
        keywords.append(words[0])
        # A function's body may start on the same row: `function f { rm x; }`.
        start = words.index("{") if words[0] in HEADS and "{" in words else 0
        words = [] if words[0] in HEADS and not start else words[start + 1 :]
    environment: list[tuple[str, str]] = []
    while words and _ASSIGNMENT.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        environment.append((name.removesuffix("+"), unquoted(value)))
    return ShellCommand(
        words=tuple(map(unquoted, words)),
        environment=tuple(environment),
        before=raw.before,
        after=after,
        keywords=tuple(keywords),
        redirections=tuple(raw.redirections),
        substitutes=any(map(_substitutes, raw.words)),
    )


def _without_heads(found: list[ShellCommand]) -> Iterator[ShellCommand]:
    """Leave out what looks like a command and is none: patterns of `case`, names of functions."""
    in_pattern = False
    for command in found:
        if ";;" in command.before or ";&" in command.before:
            in_pattern = True
        if "esac" in command.keywords:
            in_pattern = False
        if "case" in command.keywords:
            in_pattern = not command.after.startswith(")")
            yield command
        elif in_pattern:
            in_pattern = ")" not in command.after
        elif command.after.startswith("()") and _is_name(command):
            continue
        else:
            yield command


def _is_name(command: ShellCommand) -> bool:
    return len(command.words) == 1 and _NAMES.fullmatch(command.words[0]) is not None


def _substitutes(word: str) -> bool:
    return any(
        "$(" in piece["double"] or "`" in piece["double"]
        for piece in _PIECE.finditer(word)
        if piece["double"] is not None
    )


def unquoted(word: str) -> str:
    """Return a word as a program gets it, expansions left as they are written."""
    if not set(word) & set("'\"\\"):
        return word
    return "".join(map(_plain, _PIECE.finditer(word)))


def _plain(piece: re.Match[str]) -> str:
    match piece.lastgroup:
        case "double":
            return _IN_DOUBLE_QUOTES.sub(lambda found: found[1] or "", piece["double"])
        case "ansi":
            return _ANSI_ESCAPE.sub(_ansi, piece["ansi"])
        case "escaped":
            return "" if piece["escaped"] == "\n" else piece["escaped"]
        case group:
            return piece[group or 0]


def _ansi(escape: re.Match[str]) -> str:
    if code := escape[1]:
        return chr(int(code, 16))
    if code := escape[2]:
        return chr(int(code, 8) & 0xFF)
    return _ANSI_LETTERS.get(escape[3], escape[3] if escape[3] in "\\'\"?" else escape[0])
