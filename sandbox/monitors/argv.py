"""Whether a command's words match globs, `**` standing for any number of words."""

import re
from collections.abc import Callable, Sequence
from fnmatch import translate

from sandbox.monitors.context import Context
from sandbox.monitors.lines import commands_of
from sandbox.monitors.steps import Step

Word = Callable[[str], object]


def matcher(globs: Sequence[str], context: Context) -> Callable[[Step], bool]:
    """Compile globs over words; a step matches where one of its commands does."""
    blocks: list[list[Word]] = [[]]
    for glob in globs:
        if glob == "**":
            blocks.append([])
        else:
            blocks[-1].append(re.compile(translate(glob)).match)
    literal = tuple(glob for glob in globs if not re.search(r"[*?\[]", glob))

    def matches(step: Step) -> bool:
        return any(
            _match(blocks, _named(command.words))
            for command in commands_of(step, context, *literal)
        )

    return matches


def _named(words: tuple[str, ...]) -> tuple[str, ...]:
    """Name the program without its folder."""
    return (words[0].rsplit("/", 1)[-1], *words[1:]) if words else ()


def _match(blocks: list[list[Word]], words: tuple[str, ...]) -> bool:
    """Put the first block at the start, the last at the end, the others at their first fit."""
    first, *middle = blocks
    if not middle:
        return len(first) == len(words) and _fits(first, words, 0)
    *middle, last = middle
    place, end = len(first), len(words) - len(last)
    if place > end or not _fits(first, words, 0):
        return False
    for block in middle:
        while place + len(block) <= end and not _fits(block, words, place):
            place += 1
        place += len(block)
        if place > end:
            return False
    return _fits(last, words, end)


def _fits(block: list[Word], words: tuple[str, ...], place: int) -> bool:
    return all(match(words[place + offset]) for offset, match in enumerate(block))
