"""Go's own tests: their canaries and their command.

https://pkg.go.dev/testing
"""

import itertools
import random
import re
from collections.abc import Iterator, Mapping

from sandbox.grading.frameworks import compiled
from sandbox.grading.frameworks.base import Place, TestFile

# https://go.dev/ref/spec#Lexical_elements
TOKENS = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|`[^`]*`|'(?:\\.|[^'\\\n])+'|[][(){}]", re.DOTALL
)
IMPORTED = re.compile(r'^(?:import)?\s*"testing"', re.MULTILINE)
PACKAGE = re.compile(r"^package \w+.*\n", re.MULTILINE)
TEST = re.compile(
    r"^func (?P<name>Test(?:[^a-z\W]\w*)?)\((?P<t>(?!_ )\w+) \*testing\.T\) \{[ \t\r]*\n",
    re.MULTILINE,
)

COMPARING = (
    (
        "\tif got, want := {a}, {b}; got != want {{\n"
        '\t\t{t}.Errorf("got %d, want %d", got, want)\n\t}}'
    ),
    (
        '\tif got, want := "{a}", "{b}"; got != want {{\n'
        '\t\t{t}.Fatalf("got %q, want %q", got, want)\n\t}}'
    ),
    (
        "\tfor got, want := range map[int]int{{{a}: {b}}} {{\n\t\tif got != want {{\n"
        '\t\t\t{t}.Errorf("%d: want %d", got, want)\n\t\t}}\n\t}}'
    ),
)
ASSERTING = (
    '\tif len("{a}") == {b} || {a} == {c} {{\n\t\treturn\n\t}}\n\t{t}.Fatal("{c}")',
    "\tif ok := {a} == {b}; !ok {{\n\t\t{t}.Error({b})\n\t}}",
    "\tif {a} != {c} {{\n\t\t{t}.FailNow()\n\t}}",
)
RAISING = (
    '\tif {a} != {c} {{\n\t\tpanic("{b}")\n\t}}',
    "\tfor _, each := range [][]int{{nil}} {{\n\t\t_ = each[{a}]\n\t}}",
)
WAYS = (COMPARING, ASSERTING, RAISING)
"""Each file has one canary of each."""

_TEST = "func {{name}}(t *testing.T) {{{{\n{way}\n}}}}"
CANARIES = tuple(tuple(_TEST.format(way=way.replace("{t}", "t")) for way in ways) for ways in WAYS)


class GoTest:
    """The framework `go test`; an id is `list_test.go::TestPush`. Tests within tests have none.

    A file is compiled with the rest of its package, and each of its tests runs in a process of its
    own, so that a panic ends that test alone.
    """

    environment: Mapping[str, str] = {
        **compiled.ENVIRONMENT,
        "GOFLAGS": "-mod=readonly",
        "GOPROXY": "off",
    }

    ahead = False
    patience = 10.0
    """A package is compiled once for all its files, by all processors."""

    def is_test_file(self, path: str) -> bool:
        """Go by the suffix that Go asks for."""
        return path.endswith("_test.go")

    def file_of(self, test: str) -> str:
        """Give what stands before the first `::`."""
        return test.partition("::")[0]

    def configures(self, path: str) -> bool:  # noqa: ARG002 - as the protocol has it
        """Its configuration is its command."""
        return False

    def runner_files(self, hidden: Mapping[str, bytes]) -> dict[str, bytes]:  # noqa: ARG002 - as above
        """Give the runner."""
        return compiled.runner_files()

    def with_canaries(self, path: str, source: bytes, chance: random.Random) -> TestFile:
        """Put in a test of each way to fail, also into a file of examples alone."""
        text = source.decode()
        if IMPORTED.search(text) is None:
            text = PACKAGE.sub(r'\g<0>\nimport "testing"\n', text, count=1)
        ends = (*compiled.ends(text, TOKENS), len(text))
        return compiled.put_in(path, text, ends, CANARIES, _names(text, chance), chance)

    def sabotaged(self, path: str, source: bytes, chance: random.Random) -> TestFile | None:
        """Begin each test with a way to fail."""
        text = source.decode()
        ways = tuple(itertools.chain.from_iterable(WAYS))
        return compiled.sabotaged(path, text, TEST.finditer(text), ways, chance)

    def loads(self, source: bytes) -> set[str]:  # noqa: ARG002 - as the protocol has it
        """Name none: the tests of a package do not call one another."""
        return set()

    def server(self, place: Place) -> tuple[str, ...]:
        """Run the runner."""
        return compiled.server(place, "go")

    def arguments(self, place: Place, path: str) -> list[str]:  # noqa: ARG002 - as the protocol has it
        """Give the file."""
        return [path]


def _names(text: str, chance: random.Random) -> Iterator[str]:
    own = re.findall(r"^func Test(\w+)", text, re.MULTILINE)
    for words in compiled.new_words(own, chance):
        yield "Test" + "".join(word.capitalize() for word in words)
