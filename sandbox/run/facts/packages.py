"""Commands of go and cargo that name packages, told by the folders that those stand for.

Of `go help packages` and https://doc.rust-lang.org/cargo/commands/cargo-test.html.
"""

import posixpath
import re
from collections.abc import Callable, Sequence

_MODULE = re.compile(r'^module\s+"?([^\s"]+)"?', re.MULTILINE)
_PACKAGE = re.compile(r"(?:-p|--package)(?:=?(.+))?")
_NAME = re.compile(r"""name\s*=\s*["']([\w-]+)["']\s*(?:#.*)?""")
_MANIFEST = re.compile(r"--manifest-path(?:=(.+))?")

Command = tuple[tuple[str, ...], str]
"""Words, and the absolute path of the folder that they are looked at from."""


def told_by_folder(
    argv: Sequence[str],
    cwd: str,
    nearest: Callable[[str, str], str],
    text: Callable[[str], str],
) -> Command:
    """Give a command without names of the repository's own packages; any other as it is.

    `nearest` gives the folder, `cwd` or one above, that has a file of a name, and `text` what a
    file of an absolute path holds.
    """
    name = posixpath.basename(argv[0]) if argv else ""
    if name == "go":
        folder = nearest(cwd, "go.mod")
        found = _MODULE.search(text(f"{folder}/go.mod")) if "test" in argv[1:2] else None
        return _go(argv, folder, found[1] if found else None), cwd
    if name == "cargo":
        folder = nearest(cwd, "Cargo.toml")  # of which cargo takes the whole package
        return _cargo(argv, cwd, folder, text), folder
    return tuple(argv), cwd


def _go(argv: Sequence[str], folder: str, module: str | None) -> tuple[str, ...]:
    """Put folders in the place of the module's import paths."""
    if module is None:
        return tuple(argv)
    return tuple(
        folder + word.removeprefix(module)
        if word == module or word.startswith(module + "/")
        else word
        for word in argv
    )


def _cargo(
    argv: Sequence[str], cwd: str, folder: str, text: Callable[[str], str]
) -> tuple[str, ...]:
    """Leave out that the package at hand is meant, by its name or its manifest."""
    own = argv[: argv.index("--")] if "--" in argv else argv
    words, rest = [], list(own)
    while rest:
        word = rest.pop(0)
        by = _PACKAGE.fullmatch(word) or _MANIFEST.fullmatch(word)
        if by is None:
            words.append(word)
            continue
        value = by[1] or (rest.pop(0) if rest else "")
        if by.re is _PACKAGE:
            meant = value == _name_of(text(f"{folder}/Cargo.toml"))
        else:
            meant = posixpath.normpath(posixpath.join(cwd, value)) == f"{folder}/Cargo.toml"
        if not meant:
            return tuple(argv)
    return (*words, *argv[len(own) :])


def _name_of(manifest: str) -> str | None:
    """Give the name of the package; line by line, for whoever runs here may have written it."""
    table = ""
    for line in manifest.splitlines():
        if line.startswith("["):
            table = line.partition("#")[0].strip()
        elif table == "[package]" and (found := _NAME.fullmatch(line)):
            return found[1]
    return None
