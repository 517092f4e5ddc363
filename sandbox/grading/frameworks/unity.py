"""Unity's tests, in programs of C: their canaries and their command.

https://github.com/ThrowTheSwitch/Unity/blob/master/docs/UnityGettingStartedGuide.md
"""

import itertools
import random
import re
from collections.abc import Iterator, Mapping

from sandbox.grading.frameworks import compiled
from sandbox.grading.frameworks.base import Place, TestFile

PARTS = tuple(
    compiled.RUNNER.with_name(name) for name in ("compiled_unity.pl", "compiled_sanitized.pl")
)
"""What the runner loads for it."""

# ISO/IEC 9899:2018, 6.4: comments, strings and characters.
TOKENS = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|[][(){}]", re.DOTALL
)
MAIN = re.compile(r"^int(?:\s+\w+)?\s+main\s*\(", re.MULTILINE)
INCLUDED = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*\"(?:[^\"\n]*/)?([^/\"\n]+)\.\w+\"", re.MULTILINE
)
RUN = re.compile(r"^[ \t]*RUN_TEST\(\s*(?P<name>\w+)\s*\);[^\n]*\n", re.MULTILINE)
TEST = re.compile(
    r"^(?:static\s+)?void\s+(?P<name>\w+)\s*\(\s*void\s*\)\s*\{[ \t\r]*\n", re.MULTILINE
)
_GUARD = re.compile(r"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)

COMPARING = (
    "    TEST_ASSERT_EQUAL_INT({a}, {b});",
    '    TEST_ASSERT_EQUAL_STRING("{a}", "{b}");',
    '    TEST_ASSERT_EQUAL_INT_MESSAGE({a}, {b}, "{c}");',
)
ASSERTING = (
    "    TEST_ASSERT_TRUE({a} == {b});",
    '    TEST_ASSERT_NULL("{a}");',
    '    TEST_ASSERT_MESSAGE({a} == {b}, "{c}");',
)
RAISING = (
    '    TEST_FAIL_MESSAGE("{a}");',
    "    if ({a} != {b}) {{\n        __builtin_trap();\n    }}",
)
WAYS = (COMPARING, ASSERTING, RAISING)
"""Each file has one canary of each."""

CANARIES = tuple(
    tuple(f"static void {{name}}(void)\n{{{{\n{way}\n}}}}" for way in ways) for ways in WAYS
)


class Unity:
    """The framework `unity`; an id is `tests/list.c::pushes`, by a `RUN_TEST` of the file's main.

    A file is compiled with the sources beside it, at the top, in `src` and in `lib` that have no
    `main` of their own. Each of its tests runs in a process of its own. Where gcc's sanitizers
    watch, a test fails that misuses memory or leaves some behind.
    """

    environment: Mapping[str, str] = compiled.ENVIRONMENT

    ahead = False
    patience = 5.0
    """The sources are compiled once for all files."""

    def __init__(self, *, sanitized: bool = False) -> None:
        """Say whether they watch."""
        self._runner = "sanitized" if sanitized else "unity"

    def is_test_file(self, path: str) -> bool:
        """Go by the language: Unity asks for no names."""
        return path.endswith(".c")

    def file_of(self, test: str) -> str:
        """Give what stands before the first `::`."""
        return test.partition("::")[0]

    def configures(self, path: str) -> bool:  # noqa: ARG002 - as the protocol has it
        """It is configured by headers, which are sources like others."""
        return False

    def runner_files(self, hidden: Mapping[str, bytes]) -> dict[str, bytes]:  # noqa: ARG002 - as above
        """Give the runner, and what it loads."""
        return {**compiled.runner_files(), **{part.name: part.read_bytes() for part in PARTS}}

    def with_canaries(self, path: str, source: bytes, chance: random.Random) -> TestFile:
        """Put in a test of each way to fail, and have `main` run it among the others."""
        text = source.decode()
        body, main = _parted(text)
        ends = (end for end in compiled.ends(body, TOKENS) if not _guarded(body[:end]))
        spots = tuple(ends) or (len(body),)
        file = compiled.put_in(path, body, spots, CANARIES, _names(text, chance), chance)
        for canary in sorted(file.canaries):
            spot, name = chance.choice(_runs(main)), canary.rpartition("::")[2]
            main = f"{main[:spot]}    RUN_TEST({name});\n{main[spot:]}"
        return TestFile(file.source + main.encode(), file.canaries)

    def sabotaged(self, path: str, source: bytes, chance: random.Random) -> TestFile | None:
        """Begin each test that `main` runs with a way to fail."""
        text = source.decode()
        run = {found["name"] for found in RUN.finditer(text)}
        tests = [test for test in TEST.finditer(text) if test["name"] in run]
        ways = tuple(itertools.chain.from_iterable(WAYS))
        return compiled.sabotaged(path, text, tests, ways, chance)

    def loads(self, source: bytes) -> set[str]:
        """Name what is included."""
        return set(INCLUDED.findall(source.decode()))

    def server(self, place: Place) -> tuple[str, ...]:
        """Run the runner."""
        return compiled.server(place, self._runner)

    def arguments(self, place: Place, path: str) -> list[str]:  # noqa: ARG002 - as the protocol has it
        """Give the file."""
        return [path]


def _parted(text: str) -> tuple[str, str]:
    """Part a file before its `main`. ValueError where that has no tests of Unity's to run."""
    found = MAIN.search(text)
    if found is None or not _runs(text[found.start() :]):
        raise ValueError("it has no main that runs tests by RUN_TEST")
    return text[: found.start()], text[found.start() :]


def _runs(main: str) -> list[int]:
    """Give the places of the tests that are run whatever the preprocessor is told."""
    places = (run.start() for run in RUN.finditer(main))
    return [place for place in places if not _guarded(main[:place])]


def _guarded(text: str) -> bool:
    """Whether what follows may be left out by the preprocessor."""
    found = [each[1] for each in _GUARD.finditer(text)]
    return found.count("if") > found.count("endif")


def _names(text: str, chance: random.Random) -> Iterator[str]:
    for words in compiled.new_words((found["name"] for found in RUN.finditer(text)), chance):
        yield "_".join(word.lower() for word in words)
