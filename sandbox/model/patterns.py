r"""Regular expressions of task files, over text that an agent chose: each search has its limits.

An expression that takes its time can be fed a text on which it takes hours. So a search ends
with `UndecidedError`, and whoever asked decides for the worst case: what is forbidden counts as
done, what is required as not done. Expressions mean what they mean in Python's `re`.

Which texts are undecided hangs on the clock only between a search that takes a second on this
machine and one that does on another; the bound on a text's length is the same everywhere.
"""

import re
from functools import lru_cache

import regex

from sandbox.model.errors import UndecidedError

SECONDS = 1.0
"""Processor time that one search may take."""

LONGEST = 1 << 18
"""Characters of a text that is searched; a longer one is undecided."""

_REMEMBERED = 64
_KEPT = re.compile(r"\\N\{[^}]*\}|\\.|\{(?=\d+(?:,\d*)?\}|,\d*\})", re.DOTALL)
_BRACE = re.compile(rf"({_KEPT.pattern})|\{{", re.DOTALL)


class Expression:
    """One expression. What was undecided once stays so, without being tried again."""

    def __init__(self, pattern: str) -> None:
        """Compile an expression that `re` takes."""
        self.pattern = pattern
        self._expression = regex.compile(_literal_braces(pattern), regex.V0)
        self._undecided: set[str] = set()

    def search(self, text: str) -> str | None:
        """Give the first part of a text that matches; UndecidedError past a limit."""
        self._refuse(text)
        try:
            found = self._expression.search(text, timeout=SECONDS)
        except TimeoutError:
            raise self._given_up(text) from None
        return None if found is None else found[0]

    def fullmatch(self, text: str) -> bool:
        """Whether the whole of a text matches; UndecidedError past a limit."""
        self._refuse(text)
        try:
            return self._expression.fullmatch(text, timeout=SECONDS) is not None
        except TimeoutError:
            raise self._given_up(text) from None

    def parts(self, text: str) -> list[str]:
        """Give every part that matches, or its first group where the expression has groups."""
        self._refuse(text)
        group = 1 if self._expression.groups else 0
        try:
            return [
                found[group] or "" for found in self._expression.finditer(text, timeout=SECONDS)
            ]
        except TimeoutError:
            raise self._given_up(text) from None

    def _refuse(self, text: str) -> None:
        if len(text) > LONGEST:
            raise UndecidedError(
                f"A text of {len(text)} characters is too long to be compared with {self.pattern!r}"
            )
        if self._undecided and text in self._undecided:
            raise self._given_up(text)

    def _given_up(self, text: str) -> UndecidedError:
        if len(self._undecided) >= _REMEMBERED:
            self._undecided.clear()
        self._undecided.add(text)
        return UndecidedError(
            f"Comparing a text of {len(text)} characters with {self.pattern!r} takes too long"
        )


@lru_cache(maxsize=1024)
def expression(pattern: str) -> Expression:
    """Compile an expression, once for all who use it."""
    return Expression(pattern)


def _literal_braces(pattern: str) -> str:
    """Escape braces that are no quantifier: in `regex`, `a{e}` is a fuzzy `a`."""
    return _BRACE.sub(lambda found: found[1] or r"\{", pattern)
