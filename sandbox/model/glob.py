"""Globs over paths, in one syntax everywhere.

`*` and `?` match within a name, `**` stands alone between slashes for any number of folders,
`[abc]`, `[a-z]` and `[!abc]` match one character, and everything else, a backslash too, stands
for itself (`[*]` is a plain asterisk). A leading dot is nothing special. `docs/**` covers all
below `docs`, not `docs` itself. Paths and globs are text as `path_text.py` writes it.

Matching takes time proportional to the path's length at worst squared, whatever the glob.
"""

import re
from collections.abc import Iterable

from sandbox.model import path_text as paths

MAXIMUM_LENGTH = 4096
_WILD = frozenset("*?[")


class Globs:
    """Some globs, compiled once."""

    def __init__(self, patterns: Iterable[str]) -> None:
        """Compile; ValueError says what is wrong with a pattern."""
        self.patterns = tuple(patterns)
        joined = "|".join(f"(?:{_expression(pattern)})" for pattern in self.patterns)
        self._expression = re.compile(joined or r"(?!)", re.DOTALL)

    @property
    def expression(self) -> str:
        """The regular expression that a whole path has to match, as Perl's and ours read it."""
        return self._expression.pattern

    def match(self, path: str) -> bool:
        """Whether one of them matches a whole path."""
        return self._expression.fullmatch(_characters(path)) is not None


def is_plain(pattern: str) -> bool:
    """Whether a glob is a path that stands for itself alone."""
    return not _WILD.intersection(pattern)


def check(pattern: str) -> str:
    """Give a glob back; ValueError where it is none."""
    _expression(pattern)
    return pattern


def _characters(path: str) -> str:
    """Undo escapes, so that a byte that is no text counts as one character."""
    return paths.raw(path).decode("utf-8", "surrogateescape") if "\\" in path else path


def _expression(pattern: str) -> str:
    if len(pattern) > MAXIMUM_LENGTH:
        raise ValueError(f"the glob is longer than {MAXIMUM_LENGTH} characters")
    plain = _characters(pattern)
    root, names = ("/", plain[1:]) if plain.startswith("/") else ("", plain)
    blocks: list[list[str]] = [[]]
    for name in names.split("/"):
        if name in ("", ".", ".."):
            raise ValueError(
                f"glob {pattern!r}: names must not be empty, `.` or `..`; `x/**` is all below x"
            )
        if name == "**":
            blocks.append([])
        elif "**" in name:
            raise ValueError(f"glob {pattern!r}: `**` must stand alone between slashes")
        else:
            blocks[-1].append(_name(name, pattern))
    return root + _join(blocks)


def _join(blocks: list[list[str]]) -> str:
    """Join what stands between `**`s: each block at its first fit, the last at the end."""
    first, *others = ("/".join(block) for block in blocks)
    if not others:
        return first
    *middle, last = others
    folders = "(?:[^/]+/)*"
    found = "".join(f"(?>{folders}?{block}/)" for block in middle if block)
    start = f"{first}/" if first else ""
    return start + found + (folders + last if last else "[^/]+(?:/[^/]+)*+")


def _name(name: str, pattern: str) -> str:
    """Translate one name: each piece between `*`s at its first fit, the last at the end."""
    pieces = [_piece(piece, pattern) for piece in _split(name)]
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    found = "".join(f"(?>[^/]*?{piece})" for piece in middle if piece)
    if not any(pieces):
        return "[^/]++"
    return f"(?>{first}{found}[^/]*?{last}(?![^/]))"


def _split(name: str) -> list[str]:
    """Split at each `*` that is not inside of brackets."""
    pieces = [""]
    for part in re.findall(r"\[!?\]?[^\]]*\]|.", name, re.DOTALL):
        if part == "*":
            pieces.append("")
        else:
            pieces[-1] += part
    return pieces


def _piece(piece: str, pattern: str) -> str:
    expression = ""
    for part in re.findall(r"\[!?\]?[^\]]*\]|.", piece, re.DOTALL):
        if part == "?":
            expression += "[^/]"
        elif len(part) > 1:
            expression += _class(part[1:-1], pattern)
        else:
            expression += re.escape(part)
    return expression


def _class(inner: str, pattern: str) -> str:
    negated, members = (True, inner[1:]) if inner.startswith("!") else (False, inner)
    plain = re.sub(r"([\\\[\]^&~|])", r"\\\1", members)
    expression = f"(?!/)[{'^' if negated else ''}{plain}]"
    try:
        re.compile(expression)
    except re.error as error:
        raise ValueError(
            f"glob {pattern!r}: [{inner}] is not a valid set of characters: {error}"
        ) from None
    return expression
