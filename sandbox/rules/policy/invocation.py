"""A program with its words, read as everything that it may be: the one form that rules compare.

`/opt/node/bin/node /usr/bin/npm i` is node with a script, and npm's `install`; a copy of git under
another name is that name, and git. A rule is tried on each of these readings.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from posixpath import basename, dirname, join, normpath

from sandbox.model import path_text as paths
from sandbox.model.shell.options import after_options, option_value
from sandbox.model.shell.reader import Started
from sandbox.model.shell.table import Program, SubCommand, Table

Identify = Callable[[str], str | None]
"""The name of the image's program that a file is, by its absolute path; None for another file."""

_DEPTH = 4
"""Programs that run programs that run programs."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """One reading of a started program."""

    program: str
    """The name that rules go by."""
    name: str
    """The name of its file, or of its module."""
    path: str
    """Its file, absolute; empty where that is not known."""
    words: tuple[str, ...]
    """As they were given."""
    arguments: tuple[str, ...]
    """From the sub-command on, by its own name; the words where there is none."""
    network: bool
    """Whether it wants the network."""
    truncated: bool = False
    """Whether there are more words."""
    proven: bool = False
    """Whether the file is known to be that program; else it only goes by its name."""
    how: str = ""
    """What it was recognised by, for people."""


def readings(started: Started, table: Table, identify: Identify) -> tuple[Invocation, ...]:
    """Read a program as everything that it may be, each once."""
    found: dict[tuple[object, ...], Invocation] = {}
    for reading in _read(started, table, identify, _DEPTH):
        key = (reading.program, reading.name, reading.words)
        if key not in found or reading.proven:
            found[key] = reading
    return tuple(found.values())


def _read(started: Started, table: Table, identify: Identify, depth: int) -> Iterator[Invocation]:
    for name, how, proven in _names(started, identify):
        program = table.find(name)
        for reading, words in _forms(program, name, started):
            yield replace(_normal(program, name, started, words), proven=proven, how=how + reading)
        if depth:
            for inner in _inner(program, name, started):
                yield from _read(inner, table, identify, depth - 1)


def _names(started: Started, identify: Identify) -> Iterator[tuple[str, str, bool]]:
    """Yield each name that the file goes by, what it is known from, and whether that is proof."""
    seen = set()
    identity = identify(started.resolved) if started.resolved else None
    if identity is not None:
        seen.add(identity)
        yield identity, f"the content of {started.resolved}", True
    for path, how in ((started.resolved, "its file's name"), (started.program, "its name")):
        name = basename(path)
        if name and name not in seen:
            seen.add(name)
            yield name, how, False


def _forms(program: Program, name: str, started: Started) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the words, led by the sub-command where the name holds it, as `git-push` does."""
    prefix = program.command_prefix
    for called in dict.fromkeys((name, basename(started.program), basename(started.called))):
        if prefix and called.startswith(prefix) and len(called) > len(prefix):
            yield f", called {called}", (called.removeprefix(prefix), *started.words)
    if not (prefix and name.startswith(prefix)):
        yield "", started.words


def _normal(program: Program, name: str, started: Started, words: tuple[str, ...]) -> Invocation:
    arguments, network = words, program.network
    if program.commands:
        rest = after_options(words, program)
        command = program.sub_command(rest[0]) if rest else None
        if command is None and program.loose_options and rest != words:
            command, rest = _behind_values(rest, program)
        if command is not None:
            arguments = (command.name, *rest[1:])
        elif rest or started.truncated:
            arguments = rest
        network = network or (command is not None and command.network)
    network = network and not _offline(words, program)
    path = started.resolved or (started.program if started.program.startswith("/") else "")
    return Invocation(program.name, name, path, words, arguments, network, started.truncated)


def _behind_values(
    rest: tuple[str, ...], program: Program
) -> tuple[SubCommand | None, tuple[str, ...]]:
    """Look for the sub-command behind operands that options in front of it may have taken."""
    left = rest
    while left:
        left = after_options(left[1:], program)
        command = program.sub_command(left[0]) if left else None
        if command is not None:
            return command, left
    return None, rest


def _offline(words: tuple[str, ...], program: Program) -> bool:
    """Whether options say that the network is not wanted, and none takes that back."""
    if any(fnmatchcase(word, glob) for word in words for glob in program.online_options):
        return False
    return any(
        word in program.offline_options and behind != "false"
        for word, behind in pairwise((*words, ""))
    )


def _inner(program: Program, name: str, started: Started) -> Iterator[Started]:
    """Yield the programs that this one turns into without starting another."""
    words, cwd = started.words, started.cwd
    if program.multi_call:
        called = basename(started.called or started.program)
        if called not in (name, program.name, basename(started.resolved)):
            yield _turned(started, called, words)
        elif words:
            yield _turned(started, basename(words[0]), words[1:])
    if program.runs is None:
        return
    module = program.module_option and option_value(program.module_option, words, program)
    if module:
        first = module[0].partition(".")[0]
        yield _turned(started, first, module[1:])
        return
    if program.text_option and option_value(program.text_option, words, program):
        return
    script = after_options(words, program)
    if script:
        path = normpath(join(cwd, paths.text(os.fsencode(script[0]))))
        if basename(path) == "__main__.py":
            path = dirname(path)
        yield replace(_turned(started, path, script[1:]), resolved=path)


def _turned(started: Started, program: str, words: tuple[str, ...]) -> Started:
    """Return what a program turns into."""
    return replace(started, program=program, words=words, called=program, resolved="")
