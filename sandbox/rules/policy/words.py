"""Whether a program's words match globs in order."""

import re
from collections.abc import Callable, Sequence
from fnmatch import translate
from functools import lru_cache
from itertools import takewhile

from sandbox.model.decision import ANY, PATH, Words

OnPath = Callable[[str], bool]
"""Whether a file that is written is one that the rule is about."""


@lru_cache(maxsize=4096)
def _expression(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))


def matches(globs: Sequence[Words], words: Sequence[str], on_path: OnPath) -> bool:
    """Match all words: `*` is any text, `**` any number of words, `{path}` a file.

    Each block between `**`s is put at its first fit, which is enough: blocks have fixed lengths.
    """
    blocks: list[list[Words]] = [[]]
    for alternatives in globs:
        if alternatives == (ANY,):
            blocks.append([])
        else:
            blocks[-1].append(alternatives)
    first, *middle = blocks
    if not middle:
        return len(first) == len(words) and _fits(first, words, 0, on_path)
    *middle, last = middle
    place, end = len(first), len(words) - len(last)
    if place > end or not _fits(first, words, 0, on_path):
        return False
    for block in middle:
        while place + len(block) <= end and not _fits(block, words, place, on_path):
            place += 1
        place += len(block)
        if place > end:
            return False
    return _fits(last, words, end, on_path)


def may_match(globs: Sequence[Words], words: Sequence[str], on_path: OnPath) -> bool:
    """Whether words that are not all there could match: those in front of the first `**` do."""
    first = list(takewhile(lambda alternatives: alternatives != (ANY,), globs))
    known = words[:-1]
    return _fits(first[: len(known)], known, 0, on_path)


def _fits(block: list[Words], words: Sequence[str], place: int, on_path: OnPath) -> bool:
    return all(
        any(_word(glob, words[place + offset], on_path) for glob in alternatives)
        for offset, alternatives in enumerate(block)
    )


def _word(glob: str, word: str, on_path: OnPath) -> bool:
    if not glob.endswith(PATH):
        return _expression(glob).match(word) is not None
    prefix = glob.removesuffix(PATH)
    if not word.startswith(prefix):
        return False
    path = word.removeprefix(prefix)
    return bool(path) and on_path(path)
