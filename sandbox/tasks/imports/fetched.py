"""What an author's test script would fetch from the network when it runs."""

import re
import shlex
from dataclasses import dataclass

UV_PYTEST = "pytest==8.4.1"
_INSTALLING = {
    ("apt-get", "install"): "distribution",
    ("apt", "install"): "distribution",
    ("apk", "add"): "distribution",
    ("pip", "install"): "python",
    ("pip3", "install"): "python",
    ("uv", "add"): "python",
}
_WITH = {"-w": "python", "--with": "python"}
_VALUED = {"-p", "--python", "-r", "--requirement", "-c", "--constraint", "-i", "--index-url"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[a-z0-9,_-]+\])?([=<>!~]=?[A-Za-z0-9.*]+)?")


@dataclass(frozen=True, slots=True)
class Fetched:
    """Packages by who has them."""

    distribution: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """Lines that fetch something else."""


def told(scripts: list[str]) -> Fetched:
    """Read shell scripts for what they install; by words, so a strange one is not understood."""
    found: dict[str, dict[str, None]] = {"distribution": {}, "python": {}}
    unknown: dict[str, None] = {}
    for script in scripts:
        text = script.replace("\\\n", " ")
        for line in re.split(r"\n|&&|\|\||;", text):
            words = _words(line)
            for kind, package in _packages(words):
                found[kind][package] = None
            if _clones(words):
                unknown[line.strip()] = None
        if re.search(r"\bpytest\b", text):
            found["python"].setdefault("pytest", None)
    python = [each for each in found["python"] if each != "pytest" or not _pinned(found["python"])]
    return Fetched(tuple(found["distribution"]), tuple(python), tuple(unknown))


def _pinned(packages: dict[str, None]) -> bool:
    return any(re.fullmatch(r"pytest\W.*", each) for each in packages)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return line.split()


def _packages(words: list[str]) -> list[tuple[str, str]]:
    """Give what a command installs, by kind."""
    found: list[tuple[str, str]] = []
    kind, valued = "", False
    for position, word in enumerate(words):
        pair = (word.rpartition("/")[2], words[position + 1] if position + 1 < len(words) else "")
        if pair in _INSTALLING or (pair[0] == "uv" and "pip" in words and "install" in words):
            kind = _INSTALLING.get(pair, "python")
            continue
        if word in _WITH and valued is False and position + 1 < len(words):
            found.append((_WITH[word], words[position + 1]))
        if valued or word.startswith("-") or not kind:
            valued = not valued and word in _VALUED
            continue
        if word not in ("install", "add", "pip") and _NAME.fullmatch(word):
            found.append((kind, word))
    return [(each, package) for each, package in found if _NAME.fullmatch(package)]


def _clones(words: list[str]) -> bool:
    """Whether a line gets more than a package's name says: a repository, or what lies at a URL."""
    if words[:2] == ["git", "clone"]:
        return True
    address = next((word for word in words if re.match(r"https?://", word)), "")
    return bool(
        words
        and words[0] in ("curl", "wget")
        and address
        and "astral.sh" not in address
        and not re.match(r"https?://(localhost|127\.|\[::1\])", address)
    )
