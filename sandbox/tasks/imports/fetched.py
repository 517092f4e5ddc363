"""What an author's test script would fetch from the network when it runs."""

import re
import shlex
from dataclasses import dataclass

LARGEST = 256 << 10
"""Characters of a script that are read."""
_WITH = ("-w", "--with")
_VALUED = {"-p", "--python", "-r", "--requirement", "-c", "--constraint", "-i", "--index-url",
           "--target", "--find-links"}  # fmt: skip
_NAME = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9.+_-]*(\[[a-z0-9,_-]+\])?([=<>!~]=?[A-Za-z0-9.*+:~-]+,?)*"
)
_INSTALLERS = {
    "apt-get": ("install", "distribution"),
    "apt": ("install", "distribution"),
    "apk": ("add", "distribution"),
    "pip": ("install", "python"),
    "pip3": ("install", "python"),
}
"""By program: the word after which packages come, and who has them."""
_FETCHERS = {"git": "clone", "npm": "install", "yarn": "add", "cargo": "install", "go": "install"}


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
        text = script[:LARGEST].replace("\\\n", " ")
        for line in text.split("\n"):
            for words in _commands(line):
                for kind, package in _packages(words):
                    known = _NAME.fullmatch(package) is not None
                    (found[kind] if known else unknown)[package if known else line.strip()] = None
                if _fetches(words):
                    unknown[line.strip()] = None
        if re.search(r"\bpytest\b", text):
            found["python"].setdefault("pytest", None)
    python = [each for each in found["python"] if each != "pytest" or not _pinned(found["python"])]
    return Fetched(tuple(found["distribution"]), tuple(python), tuple(unknown))


def _pinned(packages: dict[str, None]) -> bool:
    return any(re.fullmatch(r"pytest\W.*", each) for each in packages)


def _commands(line: str) -> list[list[str]]:
    """Split a line into commands of words, without what goes into files."""
    reader = shlex.shlex(line, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    try:
        tokens = list(reader)
    except ValueError:
        tokens = line.split()
    commands: list[list[str]] = [[]]
    skipped = False
    for token in tokens:
        if re.fullmatch(r"[();&|]+", token):
            commands.append([])
        elif re.fullmatch(r"[<>&]+", token):
            skipped = True
        elif not skipped and not token.isdigit():
            commands[-1].append(token)
        else:
            skipped = False
    return commands


def _packages(words: list[str]) -> list[tuple[str, str]]:
    """Give what a command installs, by who has it; what is no package's name, too."""
    found = [
        ("python", words[place + 1])
        for place, word in enumerate(words[:-1])
        if word in _WITH and "uvx" in words
    ]
    found += [("python", word[7:]) for word in words if word.startswith("--with=")]
    kind, start = _installing(words)
    valued = False
    for word in words[start:]:
        if valued or word.startswith("-"):
            if valued or word in ("-r", "--requirement"):
                found += [(kind, f"{word}?")] if not valued else []
            valued = not valued and word in _VALUED
        else:
            found.append((kind, word))
    return found


def _installing(words: list[str]) -> tuple[str, int]:
    """Say what a command installs, and where its packages begin; beyond its end for none."""
    names = [word.rpartition("/")[2] for word in words]
    for place, name in enumerate(names):
        if name == "uv" and names[place + 1 : place + 2] == ["add"]:
            return "python", place + 2
        if name not in _INSTALLERS:
            continue
        verb, kind = _INSTALLERS[name]
        for there, word in enumerate(words[place + 1 :], place + 1):
            if not word.startswith("-"):
                return (kind, there + 1) if word == verb else ("", len(words))
    return "", len(words)


def _fetches(words: list[str]) -> bool:
    """Whether a line gets more than a package's name says: a repository, or what lies at a URL."""
    if len(words) > 1 and _FETCHERS.get(words[0]) == words[1]:
        return True
    if not words or words[0] not in ("curl", "wget"):
        return False
    told = " ".join(words)
    near = re.search(r"astral\.sh|://(localhost|127\.|\[::1\])", told)
    return near is None and re.search(r"://|\$", told) is not None
