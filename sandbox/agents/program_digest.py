"""What tells an agent from its next version: the files that its command line names."""

import hashlib
import os
import shlex
from collections.abc import Iterable
from pathlib import Path

MOST_BYTES = 64 << 20
"""Larger files are models and archives, and count by their size."""


def digest(command: str, folder: Path | None = None) -> str:
    """Return the SHA-256 of the files that a command names by path, and of those below a folder.

    Empty where there are none: a program that is found by PATH is known by its own version. A file
    that the named ones read in their turn is not seen.
    """
    found = hashlib.sha256()
    files = [*_named(command), *_below(folder)]
    for name, path in files:
        found.update(f"{name}\0{path.stat().st_size}\0".encode("utf-8", "surrogateescape"))
        if path.stat().st_size <= MOST_BYTES and os.access(path, os.R_OK):
            found.update(path.read_bytes())
    return found.hexdigest() if files else ""


def _named(command: str) -> Iterable[tuple[str, Path]]:
    try:
        words = shlex.split(command)
    except ValueError:
        return  # said where the command is started
    for position, word in enumerate(words):
        path = Path(word)
        is_path = position or "/" in word or word.endswith((".yaml", ".yml"))
        if is_path and _is_file(path):
            yield path.name, path


def _below(folder: Path | None) -> Iterable[tuple[str, Path]]:
    if folder is not None:
        for path in sorted(folder.rglob("*")):
            if _is_file(path):
                yield str(path.relative_to(folder)), path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a word that is too long for a path
        return False
