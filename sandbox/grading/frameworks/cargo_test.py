"""Rust's own tests, run by cargo: their canaries and their command.

https://doc.rust-lang.org/cargo/reference/cargo-targets.html#integration-tests
"""

import itertools
import random
import re
from collections.abc import Iterator, Mapping

from sandbox.grading.frameworks import compiled
from sandbox.grading.frameworks.base import Place, TestFile

# https://doc.rust-lang.org/reference/tokens.html; a lifetime has no second quote.
TOKENS = re.compile(
    r"//[^\n]*|/\*.*?\*/|\bb?r(?P<hashes>#*)\".*?\"(?P=hashes)|\"(?:\\.|[^\"\\])*\"|"
    r"'(?:\\(?:u\{[^}]*\}|x..|.)|[^'\\])'|[][(){}]",
    re.DOTALL,
)
TEST = re.compile(
    r"^(?P<attributes>(?:#\[[^\n]*\]\n)*#\[test\]\n(?:#\[[^\n]*\]\n)*)"
    r"fn (?P<name>\w+)\(\)[^{;\n]*\{[ \t\r]*\n",
    re.MULTILINE,
)
MODULE = re.compile(r"^[ \t]*(?:pub\s+)?mod\s+(\w+)\s*;", re.MULTILINE)
UNLIKE_OTHERS = ("should_panic", "ignore")
"""Attributes of tests that do not fail where they panic."""

COMPARING = (
    "    assert_eq!({a}, {b});",
    '    assert_eq!("{a}".to_string(), "{b}");',
    "    assert_eq!(vec![{a}, {b}], [{a}, {c}]);",
)
ASSERTING = (
    "    assert!({a} == {b});",
    '    assert!("{a}".is_empty(), "{b}");',
    "    assert_ne!({a}, {a});",
)
RAISING = (
    '    if {a} != {b} {{\n        panic!("{c}");\n    }}',
    "    let _: i32 = Option::<i32>::None.unwrap();",
    '    let _: i32 = "{a}x".parse().unwrap();',
)
WAYS = (COMPARING, ASSERTING, RAISING)
"""Each file has one canary of each."""

_TEST = "#[test]\nfn {{name}}() {{{{\n{way}\n}}}}"
CANARIES = tuple(tuple(_TEST.format(way=way) for way in ways) for ways in WAYS)


class CargoTest:
    """The framework `cargo test`; an id is `tests/list.rs::pushes`, or `tests/list.rs::deep::pops`.

    Only what lies in `tests/` can be hidden: what stands in `src/` belongs to the candidate. Each
    test runs in a process of its own.
    """

    environment: Mapping[str, str] = {**compiled.ENVIRONMENT, "CARGO_NET_OFFLINE": "true"}

    ahead = False
    patience = 1.0
    """Each file is compiled for itself."""

    def is_test_file(self, path: str) -> bool:
        """Go by cargo's own defaults."""
        return re.fullmatch(r"tests/[^/]+(/main)?\.rs", path) is not None

    def file_of(self, test: str) -> str:
        """Give what stands before the first `::`."""
        return test.partition("::")[0]

    def configures(self, path: str) -> bool:  # noqa: ARG002 - as the protocol has it
        """Its configuration is the package's own, `Cargo.toml`."""
        return False

    def runner_files(self, hidden: Mapping[str, bytes]) -> dict[str, bytes]:  # noqa: ARG002 - as above
        """Give the runner."""
        return compiled.runner_files()

    def with_canaries(self, path: str, source: bytes, chance: random.Random) -> TestFile:
        """Put in a test of each way to fail."""
        text = source.decode()
        ends = (*compiled.ends(text, TOKENS), len(text))
        return compiled.put_in(path, text, ends, CANARIES, _names(text, chance), chance)

    def sabotaged(self, path: str, source: bytes, chance: random.Random) -> TestFile | None:
        """Begin each test with a way to fail, but for those that are to panic."""
        text = source.decode()
        tests = [
            test
            for test in TEST.finditer(text)
            if not any(word in test["attributes"] for word in UNLIKE_OTHERS)
        ]
        ways = tuple(itertools.chain.from_iterable(WAYS))
        return compiled.sabotaged(path, text, tests, ways, chance)

    def loads(self, source: bytes) -> set[str]:
        """Name modules that are files."""
        return set(MODULE.findall(source.decode()))

    def server(self, place: Place) -> tuple[str, ...]:
        """Run the runner."""
        return compiled.server(place, "cargo")

    def arguments(self, place: Place, path: str) -> list[str]:  # noqa: ARG002 - as the protocol has it
        """Give the file."""
        return [path]


def _names(text: str, chance: random.Random) -> Iterator[str]:
    for words in compiled.new_words(re.findall(r"\bfn (\w+)", text), chance):
        yield "_".join(word.lower() for word in words)
