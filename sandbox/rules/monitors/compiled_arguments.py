"""What a command of `go test` or `cargo test` selects, as `pytest_arguments.py` says it.

Options: `go help test`, `go help testflag`, and
https://doc.rust-lang.org/cargo/commands/cargo-test.html
"""

import re
from collections.abc import Callable, Sequence

OWN_FILES = "*"
"""Stands for a folder's own files, without those of the folders in it."""

_GO = re.compile(
    r"--?(test\.)?(v|race|cover|failfast|fullpath|json|x|trimpath|"
    r"(v|race|cover|failfast|json)=\w+|count=[1-9]\d*|shuffle=\S+|timeout=\S+|parallel=[1-9]\d*|"
    r"p=[1-9]\d*|vet=\S+|covermode=\w+|coverpkg=\S+|coverprofile=\S+|mod=(readonly|vendor|mod)|"
    r"buildvcs=\w+|cpu=[\d,]+|benchmem|bench=\S*|benchtime=\S+|run=(\.|\.\*)?)"
)
"""Options that leave in every test that the packages have, if it is not skipped by itself."""

_GO_WITH_VALUE = re.compile(
    r"--?(test\.)?(count|shuffle|timeout|parallel|p|vet|covermode|coverpkg|coverprofile|mod|buildvcs|"
    r"cpu|bench|benchtime|run)"
)
"""Options whose value may be the next word."""

_CARGO = re.compile(
    r"-[vqrj]+\d*|--(verbose|quiet|offline|locked|frozen|no-fail-fast|release|workspace|all|"
    r"all-targets|all-features|tests|color=\w+|jobs=\d+|message-format=\S+|target-dir=\S+|"
    r"profile=(dev|test|release))"
)
_CARGO_WITH_VALUE = frozenset(
    {"-j", "--jobs", "--color", "--message-format", "--target-dir", "--profile"}
)
_OF_TESTS = re.compile(
    r"-q|--(nocapture|show-output|quiet|include-ignored|color=\w+|test-threads=\d+)"
)
_OF_TESTS_WITH_VALUE = frozenset({"--color", "--test-threads"})
"""Options behind `--`, which the tests' own program reads."""

_EXPANDED = re.compile(r"[*?\[\]{}()$`~]")


def selected_by_go(words: Sequence[str]) -> tuple[str, ...] | None:
    """Give what `go WORDS` covers; None where it runs no tests, or less than its packages have.

    Files that stand for a package are less than the package.
    """
    if list(words[:1]) != ["test"]:
        return None
    found, rest = [], joined(words[1:], lambda word: _GO_WITH_VALUE.fullmatch(word) is not None)
    for word in rest:
        if word.startswith("-"):
            if _GO.fullmatch(word) is None:
                return None
        elif _EXPANDED.search(word) or word.endswith(".go") or not word.startswith((".", "/")):
            return None
        else:
            folder, below, more = word.partition("/...")
            if more:
                return None  # only some of what lies below
            found.append(folder if below else f"{folder.rstrip('/')}/{OWN_FILES}")
    return tuple(found) or (OWN_FILES,)


def joined(words: Sequence[str], has_value: Callable[[str], bool]) -> list[str]:
    """Give words with each option that has a value behind it as `option=value`."""
    found, rest = [], list(words)
    while rest:
        word = rest.pop(0)
        found.append(f"{word}={rest.pop(0)}" if rest and has_value(word) else word)
    return found


def selected_by_cargo(words: Sequence[str]) -> tuple[str, ...] | None:
    """Give what `cargo WORDS` covers; None where it runs no tests, or not all, or elsewhere."""
    if list(words[:1]) not in (["test"], ["t"]):
        return None
    own, found, rest = list(words[1:]), [], []
    if "--" in own:
        place = own.index("--")
        own, rest = own[:place], joined(own[place + 1 :], _OF_TESTS_WITH_VALUE.__contains__)
    while own:
        word = own.pop(0)
        if word == "--test" and own:
            found.append(f"tests/{own.pop(0)}.rs")
        elif word.startswith("--test="):
            found.append(f"tests/{word.partition('=')[2]}.rs")
        elif own and word in _CARGO_WITH_VALUE:
            own[0] = f"{'--jobs' if word == '-j' else word}={own[0]}"
        elif _CARGO.fullmatch(word) is None:
            return None
    if any(_EXPANDED.search(path) for path in found):
        return None
    return tuple(found) if all(map(_OF_TESTS.fullmatch, rest)) else None
