"""Whether a command's words match globs, `**` standing for any number of words."""

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate

from sandbox.model.shell.options import after_options
from sandbox.model.shell.reader import started_by
from sandbox.model.shell.table import shipped
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.step_commands import commands_of
from sandbox.rules.monitors.steps import Step

Word = Callable[[str], object]


def matcher(globs: Sequence[str | Sequence[str]], context: Context) -> Callable[[Step], bool]:
    """Compile globs over words; a step matches where one of its commands does."""
    blocks: list[list[Word]] = [[]]
    for glob in globs:
        if glob == "**":
            blocks.append([])
        else:
            several = [glob] if isinstance(glob, str) else glob
            blocks[-1].append(re.compile("|".join(map(translate, several))).match)
    literal = tuple(
        glob for glob in globs if isinstance(glob, str) and not re.search(r"[*?\[]", glob)
    )

    def matches(step: Step) -> bool:
        return any(
            _match(blocks, words)
            for command in commands_of(step, context, *literal)
            for words in spellings(command.words, inner=step.kind != "exec")
        )

    return matches


def spellings(words: tuple[str, ...], *, inner: bool = True) -> Iterator[tuple[str, ...]]:
    """Give a command as it stands, its program named without a folder, and as it can be read.

    That is git's without the options before the subcommand, and what it is told to start, as
    `sh -c` and `xargs` are; of a process that is a step of its own.
    """
    if not words:
        return
    name, *rest = words
    name = name.rsplit("/", 1)[-1]
    yield (name, *rest)
    if name.startswith("git-"):
        yield ("git", name.removeprefix("git-"), *rest)
    elif name == "git" and rest[:1] and rest[0].startswith("-"):
        yield (name, *after_options(tuple(rest), shipped().find(name)))
    if inner:
        for each in started_by(words, shipped()):
            yield from spellings((each.started.program, *each.started.words), inner=False)


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
