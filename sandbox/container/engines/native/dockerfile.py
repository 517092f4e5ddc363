"""Dockerfiles, as far as ours and most others go: what each line is to do.

https://docs.docker.com/reference/dockerfile/
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sandbox.model.errors import ImageError

KNOWN = ("ARG", "COPY", "ENV", "FROM", "LABEL", "RUN", "USER", "WORKDIR")
WITHOUT_EFFECT = ("CMD", "ENTRYPOINT", "EXPOSE", "HEALTHCHECK", "MAINTAINER", "STOPSIGNAL")
"""What says how a container is to be run, which we say ourselves."""
_VARIABLE = re.compile(r"\\\$|\$(?:\{(\w+)(?::([-+])([^}]*))?\}|(\w+))")


@dataclass(frozen=True, slots=True)
class Line:
    """An instruction, its words as they are written, and where it stands."""

    number: int
    instruction: str
    rest: str

    def refused(self, why: str) -> ImageError:
        """The error for what cannot be done."""
        return ImageError(f"Dockerfile, line {self.number}: {self.instruction}: {why}.")


def lines(text: str) -> Iterator[Line]:
    """Read the instructions; ImageError at the first that the native engine does not know."""
    number, begun, whole = 0, 0, ""
    for number, written in enumerate(text.splitlines(), 1):
        stripped = written.strip()
        if stripped.startswith("#") or not (stripped or whole):
            continue
        begun = begun or number
        if stripped.endswith("\\"):
            whole += f"{stripped[:-1]} "
            continue
        yield _line(begun, whole + stripped)
        begun, whole = 0, ""
    if whole:
        yield _line(begun, whole)


def _line(number: int, text: str) -> Line:
    instruction, _, rest = text.strip().partition(" ")
    line = Line(number, instruction.upper(), rest.strip())
    if line.instruction not in (*KNOWN, *WITHOUT_EFFECT):
        raise line.refused(f"the native engine knows {', '.join(KNOWN)} only")
    if line.rest.startswith("<<") or "<<EOF" in line.rest:
        raise line.refused("the native engine knows no here-documents")
    return line


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """Put variables in their places, as a Dockerfile does outside of RUN."""

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[4]
        if name is None:
            return "$"
        given = variables.get(name, "")
        if found[2] == "-":
            return given or found[3]
        if found[2] == "+":
            return found[3] if given else ""
        return given

    return _VARIABLE.sub(value, text)


def pairs(line: Line, variables: Mapping[str, str]) -> dict[str, str]:
    """Read `name=value ...`, or the old `name value`."""
    try:
        words = shlex.split(line.rest)
    except ValueError as error:
        raise line.refused(str(error)) from error
    if words and "=" not in words[0]:
        name, _, value = line.rest.partition(" ")
        return {name: expanded(value.strip(), variables)}
    found = {}
    for word in words:
        name, _, value = word.partition("=")
        found[name] = expanded(value, variables)
    return found


def command(line: Line) -> list[str]:
    """The program of a RUN and its arguments."""
    if line.rest.startswith("--"):
        raise line.refused("the native engine knows no options of it")
    if line.rest.startswith("["):
        try:
            words = json.loads(line.rest)
        except ValueError:
            words = None
        if isinstance(words, list) and all(isinstance(word, str) for word in words):
            return words
    return ["/bin/sh", "-c", line.rest]


def copied(line: Line, variables: Mapping[str, str]) -> tuple[list[str], str, str]:
    """Read a COPY: its sources, its target, and the owner it names, `0:0` by default."""
    owner = "0:0"
    words = expanded(line.rest, variables).split()
    while words and words[0].startswith("--"):
        option, _, value = words.pop(0).partition("=")
        if option != "--chown":
            raise line.refused(f"the native engine does not know {option}")
        owner = value if ":" in value else f"{value}:{value}"
    if line.rest.startswith("[") or len(words) < 2:
        raise line.refused("sources and a target are needed, in one line, without brackets")
    if not re.fullmatch(r"\d+:\d+", owner):
        raise line.refused("an owner is given by numbers to the native engine")
    return words[:-1], words[-1], owner
