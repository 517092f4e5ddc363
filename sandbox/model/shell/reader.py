"""Which programs a shell line runs, as far as its text tells.

Wrappers (`env`, `timeout`, `sudo`, `xargs`), shells with a line of their own (`sh -c`), `eval` and
`find -exec` are read through, by the table of programs. What is found is certain to be named, not
to be all: what stands in variables, scripts, Makefiles and quoted substitutions shows when it runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from posixpath import basename

from sandbox.model.shell.options import after_options, option_value
from sandbox.model.shell.table import Program, Table, shipped
from sandbox.model.shell.tokens import ShellCommand, simple_commands

_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Started:
    """A program as it is started; paths are text as `model/path_text.py` writes it."""

    program: str
    """As it was given: a name, or a path."""
    words: tuple[str, ...]
    """All but the program's own name."""
    called: str = ""
    """Its own name for itself, argv[0]."""
    resolved: str = ""
    """The file, absolute, links followed; empty where that is not known."""
    cwd: str = "/"
    """Absolute."""
    truncated: bool = False
    """Whether there are more words than these, of which the last may be cut."""


@dataclass(frozen=True, slots=True)
class NamedProgram:
    """A program that a line names."""

    started: Started
    ancestors: tuple[str, ...]
    """Names of the programs that it would descend from, the nearest first."""
    privileged: bool = False
    """Whether it would be root: the word behind `sudo`."""
    starts_others: bool = False
    """Whether the line tells what it starts in turn, as of a wrapper or a shell."""


@lru_cache(maxsize=4096)
def commands(line: str) -> tuple[ShellCommand, ...]:
    """Give a line's simple commands, wrappers that add nothing of their own taken off."""
    return tuple(unwrapped(command) for command in simple_commands(line))


def unwrapped(command: ShellCommand) -> ShellCommand:
    """Take off programs that start one other and end as it does: `env A=1`, `timeout 5`, `nice`."""
    words, environment = command.words, list(command.environment)
    while words:
        program = shipped().find(basename(words[0]))
        inner = _wrapped(program, words[1:]) if program.transparent else ((), ())
        if not inner[0]:
            break
        words = inner[0]
        environment += (_assigned(word) for word in inner[1])
    return replace(command, words=words, environment=tuple(environment))


def programs(
    line: str, table: Table, cwd: str = "/", depth: int = _DEPTH
) -> Iterator[NamedProgram]:
    """Yield all programs of a line in order; one that cannot be read has none."""
    for command in simple_commands(line):
        yield from started(command.words, table, cwd, ("bash",), depth)


def started_by(words: tuple[str, ...], table: Table) -> Iterator[NamedProgram]:
    """Yield the programs that a program is told by its words to start, without itself."""
    below = started(words, table, "/", ())
    next(below, None)
    yield from below


def started(
    words: tuple[str, ...],
    table: Table,
    cwd: str,
    ancestors: tuple[str, ...],
    depth: int = _DEPTH,
    *,
    privileged: bool = False,
) -> Iterator[NamedProgram]:
    """Yield a program, and those that it is told by its words to start."""
    if not words or not depth:
        return
    name, rest = words[0], words[1:]
    program = table.find(basename(name))
    below = tuple(_below(name, program, rest, table, cwd, ancestors, depth))
    yield NamedProgram(Started(name, rest, name, cwd=cwd), ancestors, privileged, bool(below))
    yield from below


def _below(
    name: str,
    program: Program,
    words: tuple[str, ...],
    table: Table,
    cwd: str,
    ancestors: tuple[str, ...],
    depth: int,
) -> Iterator[NamedProgram]:
    within = (program.name, *ancestors)
    if name == "eval":
        yield from _descended(programs(" ".join(words), table, cwd, depth - 1), ancestors)
    elif program.shell and program.text_option:
        text = option_value(program.text_option, words, program)
        if text:
            yield from _descended(programs(text[0], table, cwd, depth - 1), within)
    elif program.wraps is not None:
        wrapped, _ = _wrapped(program, words)
        root = program.privileges
        yield from started(wrapped, table, cwd, within, depth - 1, privileged=root)
    elif program.multi_call:
        yield from started(words, table, cwd, within, depth - 1)


def _descended(found: Iterator[NamedProgram], ancestors: tuple[str, ...]) -> Iterator[NamedProgram]:
    """Put what a nested line names below the shell that reads it."""
    for one in found:
        yield replace(one, ancestors=(*one.ancestors[:-1], *ancestors))


def _wrapped(program: Program, words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the command that a program such as `timeout` starts, and its own assignments."""
    if program.wraps == "after":
        places = [place for place, word in enumerate(words) if word in program.markers]
        return (words[places[0] + 1 :] if places else ()), ()
    rest = after_options(words, program)
    if set(words[: len(words) - len(rest)]) & set(program.asking_options):
        return (), ()
    rest = rest[program.operands :]
    count = 0
    while count < len(rest) and "=" in rest[count] and rest[count][0] not in "=-/":
        count += 1
    return rest[count:], rest[:count]


def _assigned(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value
