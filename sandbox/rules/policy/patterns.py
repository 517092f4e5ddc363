"""Whether a rule's pattern matches an action or one reading of a process, and by which fields."""

import os
from collections.abc import Iterable
from functools import lru_cache
from posixpath import basename, join, normpath

from sandbox.model import path_text as paths
from sandbox.model.decision import Pattern, Words
from sandbox.model.errors import UndecidedError
from sandbox.model.glob import Globs
from sandbox.model.patterns import expression
from sandbox.model.shell.table import Program, Table
from sandbox.rules.policy import words
from sandbox.rules.policy.invocation import Invocation
from sandbox.rules.policy.reading import asks_for_help, only_reads
from sandbox.rules.policy.subject import Process, Subject

Fields = tuple[str, ...]
"""The fields that matched, each with what it met, for people."""

UNSAID = ""
"""What a field gives that the pattern leaves out; one that does not match gives None."""


class Matcher:
    """Matches patterns in one worktree."""

    def __init__(self, root: str, table: Table) -> None:
        self._root, self._table = normpath(root), table

    def action(self, pattern: Pattern, subject: Subject, *, undecided: bool) -> Fields | None:
        """Return the fields that matched, None where one did not.

        `undecided` is whether a command matches that cannot be compared within the limits.
        """
        return _all(
            (
                _action(pattern, subject.action),
                _command(pattern, subject.command, undecided=undecided),
                self._paths(pattern, subject.paths),
                self._cwd(pattern, subject.cwd),
                _tool(pattern, subject.tool),
            )
        )

    def process(self, pattern: Pattern, process: Process, reading: Invocation) -> Fields | None:
        """Do the same for one reading of a process."""
        program = self._program(pattern, reading)
        if program is None:
            return None
        return _all(
            (
                _action(pattern, process.action),
                program,
                self._arguments(pattern, reading, process.started.cwd),
                self._cwd(pattern, process.started.cwd),
                _network(pattern, reading),
                _changing(pattern, reading),
                _privileged(pattern, process),
                self._started_by(pattern, process.ancestors),
            )
        )

    def speaks_of(self, pattern: Pattern, program: Program) -> bool:
        """Whether a pattern tells a program from others."""
        if pattern.network is not None and (
            program.network or any(command.network for command in program.commands)
        ):
            return True
        names = {program.name, *program.names}
        globs = [one for one in pattern.program or () if one != "*" and not one.startswith("/")]
        return any(self._named(glob, names) for glob in globs)

    def _paths(self, pattern: Pattern, paths: Iterable[str]) -> str | None:
        if pattern.path is None:
            return UNSAID
        found = next((path for path in paths if self._is(pattern.path, path)), None)
        return None if found is None else f"path {found}"

    def _cwd(self, pattern: Pattern, cwd: str) -> str | None:
        if pattern.cwd is None:
            return UNSAID
        return f"cwd {cwd}" if self._is(pattern.cwd, cwd) else None

    def _program(self, pattern: Pattern, reading: Invocation) -> str | None:
        if pattern.program is None:
            return UNSAID
        names = {reading.program, reading.name}
        for glob in pattern.program:
            if glob.startswith("/"):
                if reading.path and _globs((glob,)).match(reading.path):
                    return f"program {reading.path}"
            elif self._named(glob, names):
                return f"program {reading.program}"
        return None

    def _arguments(self, pattern: Pattern, reading: Invocation, cwd: str) -> str | None:
        if pattern.arguments is None:
            return UNSAID

        def on_path(word: str) -> bool:
            path = paths.text(os.fsencode(word))
            return self._is(pattern.path or (), join(cwd, path))

        for given in dict.fromkeys((reading.arguments, reading.words)):
            if words.matches(pattern.arguments, given, on_path):
                return f"arguments {' '.join(given)}"
            if reading.truncated and words.may_match(pattern.arguments, given, on_path):
                return "arguments, too many to be looked at"
        return None

    def _started_by(self, pattern: Pattern, ancestors: Iterable[str]) -> str | None:
        if pattern.started_by is None:
            return UNSAID
        for ancestor in ancestors:
            name = basename(ancestor)
            names = {name, self._table.find(name).name}
            if any(self._named(glob, names) for glob in pattern.started_by):
                return f"started by {ancestor}"
        return None

    def _named(self, glob: str, names: set[str]) -> bool:
        """Whether a glob matches a name, or is another name of the same program."""
        return self._table.find(glob).name in names or any(
            _globs((glob,)).match(name) for name in names
        )

    def _is(self, globs: Words, path: str) -> bool:
        """Whether globs match a path; relative globs and paths start at the worktree."""
        absolute = normpath(join(self._root, path))
        below = self._root.rstrip("/") + "/"
        relative = absolute.removeprefix(below) if absolute.startswith(below) else ""
        for glob in globs:
            if glob == ".":
                if absolute == self._root:
                    return True
            elif _globs((glob,)).match(absolute if glob.startswith("/") else relative):
                return True
        return False


def _action(pattern: Pattern, name: str) -> str | None:
    if pattern.action is None:
        return UNSAID
    return f"action {name}" if _globs(pattern.action).match(name) else None


def _tool(pattern: Pattern, tool: str | None) -> str | None:
    if pattern.tool is None:
        return UNSAID
    return f"tool {tool}" if tool is not None and _globs(pattern.tool).match(tool) else None


def _command(pattern: Pattern, line: str | None, *, undecided: bool) -> str | None:
    if pattern.command is None:
        return UNSAID
    if line is None:
        return None
    try:
        found = expression(pattern.command).search(line)
    except UndecidedError as error:
        return f"command, undecided: {error.message}" if undecided else None
    return None if found is None else f"command {found!r}"


def _network(pattern: Pattern, reading: Invocation) -> str | None:
    if pattern.network is None:
        return UNSAID
    wanted = reading.network and not asks_for_help(reading)
    return f"network {wanted}".lower() if pattern.network is wanted else None


def _changing(pattern: Pattern, reading: Invocation) -> str | None:
    if pattern.changing is None:
        return UNSAID
    return None if only_reads(reading) is pattern.changing else UNSAID


def _privileged(pattern: Pattern, process: Process) -> str | None:
    if pattern.privileged is None:
        return UNSAID
    if pattern.privileged is not process.privileged:
        return None
    return "as root" if process.privileged else "not as root"


def _all(parts: Iterable[str | None]) -> Fields | None:
    fields = tuple(parts)
    if None in fields:
        return None
    return tuple(field for field in fields if field)


@lru_cache(maxsize=1024)
def _globs(patterns: Words) -> Globs:
    return Globs(patterns)
