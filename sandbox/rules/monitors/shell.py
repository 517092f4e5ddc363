"""A shell line taken apart into its commands, as far as that is safe without a shell.

Quoting is understood, expansions are not: a word with one stays as it is written. What stands in
a here-document is no command. A line that cannot be read has no commands.
"""

import re
import shlex
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r]+|\\\n|(?<![^\s;&|()])\#[^\n]*)
    |(?P<redirection>\d*(?:&>>?|<<<|<<-?|<>|[<>]&|>>|>\||[<>]))
    |(?P<operator>&&|\|\||;;|\|&|[;&|()\n])
    |(?P<word>(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\;&|()<>])+)""",
    re.VERBOSE | re.DOTALL,
)
_HERE = re.compile(
    r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w*+)\1([^\n]*+\n).*?(?:^[ \t]*\2[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
LONGEST = 1 << 16
"""Characters of a line that is still taken apart."""


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One simple command of a line."""

    words: tuple[str, ...]
    """Without quotes, redirections and what stands before its name."""
    environment: tuple[tuple[str, str], ...]
    """Variables that are set for it alone."""
    before: str
    """The operator in front of it; empty for the first."""
    after: str
    """The operator behind it; empty for the last."""


@lru_cache(maxsize=4096)
def commands(line: str) -> tuple[ShellCommand, ...]:
    """Take a line apart."""
    if len(line) > LONGEST:
        return ()
    if "<<" in line and "\n" in line:
        line = _HERE.sub(lambda found: found[3], line)
    found: list[tuple[str, list[str]]] = [("", [])]
    skip, place = False, 0
    while place < len(line):
        token = _TOKEN.match(line, place)
        if token is None:
            return ()
        place = token.end()
        if token.lastgroup == "operator":
            found.append((token[0], []))
        elif token.lastgroup == "redirection":
            skip = True
        elif token.lastgroup == "word":
            if not skip:
                found[-1][1].append(token[0])
            skip = False
    return tuple(_joined(found))


def _joined(found: list[tuple[str, list[str]]]) -> list[ShellCommand]:
    """Give each command the operators around it; of several, such as `;` and a newline, all."""
    kept: list[tuple[str, list[str]]] = []
    operators = ""
    for operator, raw in found:
        operators = _merged(operators, operator)
        if raw:
            kept.append((operators, raw))
            operators = ""
    end = operators if operators.strip("\n;") else ""
    afters = [*(before for before, _ in kept[1:]), end]
    return [
        _command(raw, before, after) for (before, raw), after in zip(kept, afters, strict=False)
    ]


def _merged(one: str, other: str) -> str:
    return other if one in ("", "\n") else one if other == "\n" else one + other


def _command(raw: list[str], before: str, after: str) -> ShellCommand:
    environment: list[tuple[str, str]] = []
    words = list(raw)
    while words and _ASSIGNMENT.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        environment.append((name, _unquoted(value)))
    plain = [_unquoted(word) for word in words]
    return ShellCommand(*unwrapped(plain, environment), before, after)


def _unquoted(word: str) -> str:
    try:
        return "".join(shlex.split(word, posix=True)) if word else ""
    except ValueError:
        return word


def unwrapped(
    words: list[str], environment: "list[tuple[str, str]]"
) -> "tuple[tuple[str, ...], tuple[tuple[str, str], ...]]":
    """Take off programs that only start another: `env A=1`, `timeout 5`, `time`, `nice`."""
    environment = list(environment)
    while words:
        name, *rest = words
        name = name.rsplit("/", 1)[-1]
        if name in ("time", "command", "exec", "nohup", "builtin") and rest:
            words = rest
        elif name == "env" and rest and not rest[0].startswith("-"):
            while rest and _ASSIGNMENT.match(rest[0]):
                variable, _, value = rest.pop(0).partition("=")
                environment.append((variable, value))
            words = rest
        elif name == "timeout" and len(rest) > 1 and re.fullmatch(r"[\d.]+[smhd]?", rest[0]):
            words = rest[1:]
        elif name == "nice" and len(rest) > 2 and rest[0] == "-n":
            words = rest[2:]
        else:
            break
    return tuple(words), tuple(environment)
