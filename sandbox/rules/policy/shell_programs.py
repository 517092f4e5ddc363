"""The programs of a shell line, as far as its text tells: what is certain to be tried, not all.

What stands in variables, scripts, Makefiles and quoted substitutions shows when it starts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from posixpath import basename

from sandbox.rules.monitors.shell import commands
from sandbox.rules.policy.invocation import Started, after_options, option_value
from sandbox.rules.policy.programs import Program, Table

KEYWORDS = frozenset(("if", "then", "elif", "else", "while", "until", "do", "!", "{", "coproc"))
_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Found:
    """A program that a line names."""

    started: Started
    ancestors: tuple[str, ...]
    """Names of the programs that it would descend from, the nearest first."""
    privileged: bool = False
    """Whether it would be root: the word behind `sudo`."""


def programs(line: str, table: Table, cwd: str, depth: int = _DEPTH) -> Iterator[Found]:
    """Take a line apart; one that cannot be read has no programs."""
    for command in commands(line):
        words = command.words
        while words and words[0] in KEYWORDS:
            words = words[1:]
        yield from started(words, table, cwd, ("bash",), depth)


def started(
    words: tuple[str, ...],
    table: Table,
    cwd: str,
    ancestors: tuple[str, ...],
    depth: int = _DEPTH,
    *,
    privileged: bool = False,
) -> Iterator[Found]:
    """Yield a program, and those that it is told by its words to start."""
    if not words or not depth:
        return
    name, rest = words[0], words[1:]
    program = table.find(basename(name))
    yield Found(Started(name, rest, name, cwd=cwd), ancestors, privileged)
    within = (program.name, *ancestors)
    if name == "eval":
        yield from _below(programs(" ".join(rest), table, cwd, depth - 1), ancestors)
    elif program.shell and program.text_option:
        text = option_value(program.text_option, rest, program)
        if text:
            yield from _below(programs(text[0], table, cwd, depth - 1), within)
    elif program.wraps is not None:
        wrapped = _wrapped(program, rest)
        root = program.privileges
        yield from started(wrapped, table, cwd, within, depth - 1, privileged=root)
    elif program.multi_call:
        yield from started(rest, table, cwd, within, depth - 1)


def _below(found: Iterator[Found], ancestors: tuple[str, ...]) -> Iterator[Found]:
    """Put what a nested line names below the shell that reads it."""
    for one in found:
        yield replace(one, ancestors=(*one.ancestors[:-1], *ancestors))


def _wrapped(program: Program, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command that a program such as `timeout` starts."""
    if program.wraps == "after":
        places = [place for place, word in enumerate(words) if word in program.markers]
        return words[places[0] + 1 :] if places else ()
    rest = after_options(words, program)[program.operands :]
    while rest and "=" in rest[0] and not rest[0].startswith(("=", "-", "/")):
        rest = rest[1:]
    return rest
