"""What the tests of compiled languages have in common: canaries by text, and how the runner starts.

The text is read without a parser: only strings, comments and brackets are told apart, which is
enough to see where a definition at the top level ends.
"""

import itertools
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sandbox.grading.frameworks.base import Place, TestFile

RUNNER = Path(__file__).parent.with_name("runners") / "compiled_runner.pl"
PERL = "/usr/bin/perl"
ENVIRONMENT = {"LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin", "TZ": "UTC"}

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_LINE_END = re.compile(r"[ \t\r]*(?:\n|\Z)")


def runner_files() -> dict[str, bytes]:
    """Give the runner, by name."""
    return {RUNNER.name: RUNNER.read_bytes()}


def server(place: Place, framework: str) -> tuple[str, ...]:
    """Start the runner."""
    return (PERL, f"{place.folder}/{RUNNER.name}", framework)


def ends(text: str, tokens: re.Pattern[str]) -> Iterator[int]:
    """Yield the places behind the lines with which something at the top level ends.

    ValueError where the text ends within brackets.
    """
    depth = 0
    for found in tokens.finditer(text):
        sign = found[0]
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if sign == "}" and depth == 0 and (end := _LINE_END.match(text, found.end())):
            yield end.end()
    if depth:
        raise ValueError("its brackets do not match")


def put_in(
    path: str,
    text: str,
    ends: Sequence[int],
    ways: Sequence[Sequence[str]],
    names: Iterator[str],
    chance: random.Random,
) -> TestFile:
    """Put a test of each way to fail at some of the places where definitions end.

    A way names its test `{name}`, which is drawn from `names`, and has the numbers `{a}`, `{b}` and
    `{c}`.
    """
    spots = chance.choices(ends, k=len(ways))
    canaries = set()
    # The later spot first: what is put in moves all behind it.
    for spot, group in zip(sorted(spots, reverse=True), ways, strict=True):
        name = next(names)
        canaries.add(f"{path}::{name}")
        text = f"{text[:spot]}\n{_drawn(group, chance, name=name)}\n{text[spot:]}"
    return TestFile(text.encode(), frozenset(canaries))


def sabotaged(
    path: str, text: str, tests: Iterable[re.Match[str]], ways: Sequence[str], chance: random.Random
) -> TestFile | None:
    """Begin each test with a way to fail.

    A test is found by what stands before its body, which has its `name` as a group and what else
    the ways name.
    """
    found = list(tests)
    for test in reversed(found):
        way = _drawn(ways, chance, **test.groupdict())
        text = f"{text[: test.end()]}{way}\n{text[test.end() :]}"
    ids = frozenset(f"{path}::{test['name']}" for test in found)
    return TestFile(text.encode(), ids) if ids else None


def new_words(names: Iterable[str], chance: random.Random) -> Iterator[list[str]]:
    """Give words for a new name: two that some names are made of, and one that nobody has.

    What a canary is called must not clash with anything that it is compiled with.
    """
    parts = (re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name) for name in names)
    words = sorted({*itertools.chain.from_iterable(parts)}) or ["it"]
    while True:
        syllables = (chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(6))
        yield [*chance.choices(words, k=2), "".join(syllables)]


def _drawn(ways: Sequence[str], chance: random.Random, **named: str) -> str:
    a, b, c = chance.sample(range(10, 1_000_000), 3)
    return chance.choice(ways).format(a=a, b=b, c=c, **named)
