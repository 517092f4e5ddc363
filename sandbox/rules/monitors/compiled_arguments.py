"""What a command of `go test` or `cargo test` selects, as `pytest_arguments.py` says it.

Options: `go help test`, `go help testflag`, and
https://doc.rust-lang.org/cargo/commands/cargo-test.html
"""

import re
from collections.abc import Sequence

OWN_FILES = "*"
"""Stands for a folder's own files, without those of the folders in it."""

_GO = re.compile(
    r"--?(test\.)?(v|race|cover|failfast|fullpath|json|x|trimpath|"
    r"(v|race|cover|failfast|json)=\w+|count=[1-9]\d*|shuffle=\S+|timeout=\S+|parallel=[1-9]\d*|"
    r"p=[1-9]\d*|vet=\S+|covermode=\w+|coverpkg=\S+|coverprofile=\S+|mod=(readonly|vendor|mod)|"
    r"buildvcs=\w+)"
)
"""Options that leave in every test that the packages have, if it is not skipped by itself."""

_CARGO = re.compile(
    r"-[vqj]+\d*|--(verbose|quiet|offline|locked|frozen|no-fail-fast|release|workspace|all|"
    r"all-targets|all-features|tests|color=\w+|jobs=\d+|message-format=\S+)"
)
_OF_TESTS = re.compile(
    r"--(nocapture|show-output|quiet|include-ignored|color=\w+|test-threads=\d+)"
)
"""Options behind `--`, which the tests' own program reads."""

_EXPANDED = re.compile(r"[*?\[\]{}()$`~]")


def selected_by_go(words: Sequence[str]) -> tuple[str, ...] | None:
    """Give what `go WORDS` covers; None where it runs no tests, or less than its packages have.

    Files that stand for a package are less than the package.
    """
    if list(words[:1]) != ["test"]:
        return None
    found = []
    for word in words[1:]:
        if word.startswith("-"):
            if _GO.fullmatch(word) is None:
                return None
        elif _EXPANDED.search(word) or word.endswith(".go") or not word.startswith("."):
            return None
        else:
            folder, below, _ = word.partition("/...")
            found.append(folder if below else f"{folder.rstrip('/')}/{OWN_FILES}")
    return tuple(found) or (OWN_FILES,)


def selected_by_cargo(words: Sequence[str]) -> tuple[str, ...] | None:
    """Give what `cargo WORDS` covers; None where it runs no tests, or not all, or elsewhere."""
    if list(words[:1]) != ["test"]:
        return None
    own, found, rest = list(words[1:]), [], []
    if "--" in own:
        place = own.index("--")
        own, rest = own[:place], own[place + 1 :]
    while own:
        word = own.pop(0)
        if word == "--test" and own:
            found.append(f"tests/{own.pop(0)}.rs")
        elif word.startswith("--test="):
            found.append(f"tests/{word.partition('=')[2]}.rs")
        elif _CARGO.fullmatch(word) is None:
            return None
    if any(_EXPANDED.search(path) for path in found):
        return None
    return tuple(found) if all(map(_OF_TESTS.fullmatch, rest)) else None
