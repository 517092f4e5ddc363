"""What a shell line does, as far as its words tell: reads, tests, risks, and what it aims at.

An approximation that never runs anything: a line that cannot be read counts as one that writes.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from posixpath import basename

from sandbox.model.shell.options import option_value
from sandbox.model.shell.reader import NamedProgram, programs
from sandbox.model.shell.table import shipped
from sandbox.model.shell.tokens import Redirection, simple_commands


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


READERS = _words(
    "[ awk basename cat cd cmp cut date df diff dirname du echo egrep env false fgrep file find"
    " grep head id jq less ls md5sum nl printenv printf pwd readlink realpath rg sha256sum sleep"
    " sort stat tail test tr tree true type uname uniq wc which whoami"
)
TESTERS = _words("pytest py.test unittest")
READING_SUBCOMMANDS = {
    "git": _words("blame cat-file describe diff grep log ls-files rev-parse shortlog show status"),
    "pip": _words("check freeze list show"),
}
VALUED_OPTIONS = {
    "git": _words("-C -c"),
    "pip": _words("-c -f -i -r --find-links --index-url --requirement"),
}
"""Options whose value is the next word."""
EXTERNAL = _words("curl ftp gh nc ncat rsync scp sftp ssh telnet twine wget")
IRREVERSIBLE = _words("dd mkfs rm shred truncate")
PRIVILEGED = _words("chown doas mount setcap su sudo")
GIT_DESTROYS = re.compile(
    r"reset .*--hard|clean\b|restore\b|checkout .*(--( |$)|\.( |$)|-f\b)|rebase\b|filter-branch"
    r"|branch .*-D\b|stash (drop|clear)|push .*(--force|-f\b)|reflog expire"
)


@dataclass(frozen=True, slots=True)
class Simple:
    """One program with its arguments."""

    program: str
    """Its name in the table of programs, without a folder; `python -m x` is `x`."""
    words: tuple[str, ...]
    privileged: bool = False
    """Whether it runs by `sudo` or the like."""

    @property
    def operands(self) -> tuple[str, ...]:
        """What it is about: words that are neither options nor their values."""
        valued = VALUED_OPTIONS.get(self.program, frozenset())
        found, skip = [], False
        for word in self.words:
            if not skip and not word.startswith("-"):
                found.append(word)
            skip = not skip and word in valued
        return tuple(found)

    @property
    def reads(self) -> bool:
        """Whether it only looks."""
        first = next(iter(self.operands), "")
        if first in READING_SUBCOMMANDS.get(self.program, ()) or self.program in TESTERS:
            return True
        if self.program == "sed":
            return not any(word.startswith(("-i", "--in-place")) for word in self.words)
        if self.program == "find":
            return not {"-delete", "-exec", "-execdir", "-ok", "-fprint"} & set(self.words)
        return self.program in READERS

    @property
    def risks(self) -> bool:
        """Whether it is irreversible, reaches outside, or is privileged."""
        if self.privileged or self.program in EXTERNAL | IRREVERSIBLE | PRIVILEGED:
            return True
        line = " ".join(self.words)
        if self.program == "git":
            return "push" in self.operands[:1] or GIT_DESTROYS.search(line) is not None
        return (self.program == "find" and "-delete" in self.words) or (
            self.program == "npm" and "publish" in self.operands[:1]
        )

    def covers(self, other: "Simple") -> bool:
        """Whether it does at least what another does: the same program on the same things."""
        if self.program != other.program:
            return False
        if self.program == "git":
            return self.operands[:1] == other.operands[:1]
        return set(other.operands) <= set(self.operands)


@lru_cache(maxsize=4096)
def parse(line: str) -> tuple[Simple, ...]:
    """Split a line into the programs that do its work; none where it cannot be read.

    Wrappers and shells are left out for what they start: `sudo -n ls` is a privileged `ls`.
    """
    found = [_simple(each) for each in programs(line, shipped()) if not each.starts_others]
    if not found and any(command.environment for command in simple_commands(line)):
        return (Simple("env", ()),)
    return tuple(found)


def reads_only(line: str) -> bool:
    """Whether nothing in the line writes."""
    found = parse(line)
    if not found:
        return False
    for command in simple_commands(line):
        if command.substitutes or any(map(_writes, command.redirections)):
            return False
    return all(program.reads for program in found)


def risky(line: str) -> bool:
    """Whether something in the line is irreversible, external or privileged."""
    return any(program.risks for program in parse(line))


def aim(line: str) -> Simple | None:
    """Return what the line is for: its last program that writes, else its last one."""
    found = parse(line)
    writers = tuple(program for program in found if not program.reads)
    return next(reversed(writers or found), None)


def _simple(named: NamedProgram) -> Simple:
    program = shipped().find(basename(named.started.program))
    name, words = program.name, named.started.words
    privileged = named.privileged or bool(PRIVILEGED & set(named.ancestors))
    module = program.module_option and option_value(program.module_option, words, program)
    if module:
        name, words = shipped().find(module[0]).name, module[1:]
    return Simple(name, words, privileged)


def _writes(redirection: Redirection) -> bool:
    """Whether a redirection makes or changes a file."""
    to_descriptor = redirection.kind == ">&" and redirection.target.strip("0123456789") in ("", "-")
    return ">" in redirection.kind and not to_descriptor and redirection.target != "/dev/null"
