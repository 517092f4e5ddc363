"""What an author's test script would fetch from the network when it runs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from posixpath import basename

from sandbox.model.shell.reader import programs
from sandbox.model.shell.table import shipped
from sandbox.model.shell.tokens import simple_commands

_NAME = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9.+_-]*(\[[a-z0-9,_-]+\])?([=<>!~]=?[A-Za-z0-9.*+:~-]+,?)*"
)
_DISTRIBUTION = {"apt": "install", "apk": "add"}
"""By program: the word after which packages of the distribution come."""
_PYTHON = {"pip": "install", "uv": "add"}
_OTHERS = {"git": "clone", "npm": "install", "yarn": "add", "cargo": "install", "go": "install"}
"""Programs that fetch what is not kept ready."""
_VALUED = ("-p", "--python", "-c", "--constraint", "-i", "--index-url", "--target", "--find-links")
"""Options whose value is no package."""
_LISTED = ("-r", "--requirement")
_BESIDE = ("-w", "--with")
_NEAR = re.compile(r"astral\.sh|://(localhost|127\.|\[::1\])")


@dataclass(frozen=True, slots=True)
class Fetched:
    """Packages by who has them."""

    distribution: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """Commands that fetch something else."""


def told(scripts: list[str]) -> Fetched:
    """Read shell scripts for what they install; what only shows when they run is not seen."""
    found = Fetched()
    for script in scripts:
        for each in programs(script, shipped()):
            words = _plain((each.started.program, *each.started.words))
            found = _joined(found, _installed(words))
        if script.strip() and not simple_commands(script):
            found = _joined(found, Fetched(unknown=("a script that cannot be read",)))
    asks = any(re.search(r"\bpytest\b", script) for script in scripts)
    if asks and not any(re.match(r"pytest\b(?!-)", each) for each in found.python):
        found = _joined(found, Fetched(python=("pytest",)))
    return found


def _joined(one: Fetched, other: Fetched) -> Fetched:
    return Fetched(
        tuple(dict.fromkeys(one.distribution + other.distribution)),
        tuple(dict.fromkeys(one.python + other.python)),
        tuple(dict.fromkeys(one.unknown + other.unknown)),
    )


def _plain(words: tuple[str, ...]) -> tuple[str, ...]:
    """Call a program by its first name, and what `python -m` or `uv` runs by its own."""
    name = shipped().find(basename(words[0])).name
    if name == "python" and words[1:2] == ("-m",) and len(words) > 2:
        return _plain(words[2:])
    if name == "uv" and words[1:2] == ("pip",):
        return ("pip", *words[2:])
    return (name, *words[1:])


def _installed(words: tuple[str, ...]) -> Fetched:
    name, rest = words[0], words[1:]
    verb = next((word for word in rest if not word.startswith("-")), "")
    whole = Fetched(unknown=(" ".join(words),))
    if _OTHERS.get(name) == verb != "":
        return whole
    if name in ("curl", "wget"):
        told = " ".join(rest)
        far = re.search(r"://|\$", told) and not _NEAR.search(told)
        return whole if far else Fetched()
    if name == "uvx":
        return Fetched(python=tuple(_beside(rest)))
    wanted = _DISTRIBUTION.get(name) or _PYTHON.get(name)
    if wanted is None or wanted != verb:
        return Fetched()
    packages = tuple(_packages(rest[rest.index(verb) + 1 :]))
    known = tuple(each for each in packages if _NAME.fullmatch(each))
    beyond = len(known) < len(packages) or any(word in _LISTED for word in rest)
    unknown = whole.unknown if beyond else ()
    return Fetched(known, (), unknown) if name in _DISTRIBUTION else Fetched((), known, unknown)


def _packages(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the words that are neither options nor their values."""
    for before, word in zip(("", *words), words, strict=False):
        if not word.startswith("-") and before not in (*_VALUED, *_LISTED):
            yield word


def _beside(words: tuple[str, ...]) -> Iterator[str]:
    """Yield what `uvx` has besides the program that it runs."""
    for before, word in zip(("", *words), words, strict=False):
        if before in _BESIDE:
            yield word
        elif word.startswith("--with="):
            yield word.removeprefix("--with=")
