"""What is known of programs: other names, sub-commands, how their words are read. Data, as YAML."""

from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from sandbox.model import documents
from sandbox.model.base import Record

SHIPPED = Path(__file__).with_name("programs.yaml")
SHORTEST_ABBREVIATION = 3


class SubCommand(Record):
    """A sub-command and what else it is called."""

    name: str
    aliases: tuple[str, ...] = ()
    network: bool = False
    """Whether it wants the network."""


class Program(Record):
    """One program. A name that stands nowhere is a program of which nothing more is known."""

    name: str
    """What rules call it."""
    names: tuple[str, ...] = ()
    """Globs over the other names of its file."""
    network: bool = False
    offline_options: tuple[str, ...] = ()
    """Options with which it does not want the network after all, unless `false` follows."""
    online_options: tuple[str, ...] = ()
    """Globs over options that take those back."""
    loose_options: bool = False
    """Whether an option that is not known may take the next word, too."""
    value_options: tuple[str, ...] = ()
    """Options that take the next word, in front of the sub-command, script or wrapped command."""
    commands: tuple[SubCommand, ...] = ()
    abbreviations: bool = False
    """Whether the beginning of a sub-command's name stands for it."""
    command_prefix: str | None = None
    """A file of this name and a sub-command is the program with it, as `git-push`."""
    privileges: bool = False
    """Whether what it starts is to be root."""
    multi_call: bool = False
    """Whether it is many programs, by the name that it is started by or by its first word."""
    runs: Literal["script"] | None = None
    """Whether its first operand is a file with the program that it then is."""
    module_option: str | None = Field(default=None, min_length=1, max_length=1)
    """The letter of the option before a module to run."""
    text_option: str | None = Field(default=None, min_length=1, max_length=1)
    """The letter of the option before a program's text."""
    shell: bool = False
    """Whether that text is a shell line."""
    wraps: Literal["command", "after"] | None = None
    """Whether it starts the command that its operands are, or that stands after a marker."""
    operands: int = 0
    """Operands of its own in front of that command."""
    markers: tuple[str, ...] = ()
    transparent: bool = False
    """Whether all that it does is to start that command, and to end as it does."""
    asking_options: tuple[str, ...] = ()
    """Options with which it starts nothing, as `command -v`."""

    def sub_command(self, word: str) -> SubCommand | None:
        """Look a sub-command up by name, alias or abbreviation."""
        for command in self.commands:
            if word == command.name or word in command.aliases:
                return command
        if not self.abbreviations or len(word) < SHORTEST_ABBREVIATION:
            return None
        begun = [command for command in self.commands if command.name.startswith(word)]
        return begun[0] if len(begun) == 1 else None


class Programs(Record):
    """The table of programs."""

    programs: tuple[Program, ...]


class Table:
    """Programs, looked up by any of their names."""

    def __init__(self, programs: Programs) -> None:
        self._globs: list[tuple[str, Program]] = []
        self._names: dict[str, Program] = {}
        for program in programs.programs:
            for name in (program.name, *program.names):
                if set(name) & set("*?["):
                    self._globs.append((name, program))
                else:
                    self._names[name] = program

    def find(self, name: str) -> Program:
        """Return what is known of a program by its file's name."""
        found = self._names.get(name)
        if found is None:
            globs = (program for glob, program in self._globs if fnmatchcase(name, glob))
            found = next(globs, None) or self._prefixed(name) or Program(name=name)
            if len(self._names) < 1 << 16:
                self._names[name] = found
        return found

    def _prefixed(self, name: str) -> Program | None:
        for program in list(self._names.values()):
            prefix = program.command_prefix
            if prefix and name.startswith(prefix) and len(name) > len(prefix):
                return program
        return None

    def names(self) -> frozenset[str]:
        """All names that are no globs."""
        return frozenset(self._names)


@lru_cache(maxsize=1)
def shipped() -> Table:
    """Read the table of this package."""
    return Table(documents.load(SHIPPED, Programs))
