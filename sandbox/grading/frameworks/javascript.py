"""What tests in JavaScript and TypeScript have in common: canaries by text, and how node starts.

The text is read without a parser: a test stands where a line begins with the name that the file
gives to the framework's function, at the left margin.
"""

import itertools
import random
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from sandbox.grading.frameworks.base import Place, TestFile

RUNNERS = Path(__file__).parent.with_name("runners")
COMMON = "javascript_runner.js"
NODE = "/usr/bin/node"

# The outcomes have a descriptor of their own before node starts, and what is printed another.
PARTED = ("/bin/sh", "-c", 'exec "$0" "$@" 3>&1 1>&2')
STARTED = (*PARTED, NODE)
OPTIONS = ("--no-warnings", "--no-addons")
FROZEN = "--frozen-intrinsics"
OPEN = "open"
"""What a runner is told where nothing is to be locked."""

ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {"LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin", "TZ": "UTC"}
)

_NAME = r"[A-Za-z_$][\w$]*"
_LOADED = re.compile(r"['\"`]\.{1,2}/(?:[^'\"`\n]*/)?([^/'\"`\n]+?)(?:\.[cm]?[jt]sx?)?['\"`]")


def runner_files(*names: str) -> dict[str, bytes]:
    """Give the common file and some others of the runners, by name."""
    return {name: (RUNNERS / name).read_bytes() for name in (COMMON, *names)}


def imported(source: str, module: str) -> tuple[str, ...]:
    """Give the names under which a file has a module, or functions of it."""
    load = rf"require\(\s*['\"]{module}['\"]\s*\)"
    assigned = re.findall(rf"(?:var|let|const)\s+(?:({_NAME})|\{{([^}}]*)\}})\s*=\s*{load}", source)
    taken = re.findall(
        rf"import\s+({_NAME})?\s*,?\s*(?:\{{([^}}]*)\}})?\s*from\s*['\"]{module}['\"]", source
    )
    found = []
    for whole, parts in [*assigned, *taken]:
        names = [re.split(r"\s*:\s*|\s+as\s+", part.strip())[-1] for part in parts.split(",")]
        found += [name for name in (whole, *names) if name]
    return tuple(found)


def loads(source: bytes) -> set[str]:
    """Name the files that stand as relative paths in quotes."""
    return set(_LOADED.findall(source.decode("utf-8", "replace")))


def put_in(
    path: str,
    source: bytes,
    called: Mapping[str, str],
    ways: Sequence[Sequence[str]],
    chance: random.Random,
) -> TestFile:
    """Put a test of each way to fail in front of some test of the file, or behind the last.

    `called` says what the file calls the framework's function (`test`), and what else the ways
    name in braces. Where it names a function of a `suite`, some tests are put into suites of the
    file's own.
    """
    text = source.decode()
    taken = set(re.findall(r"\(\s*'((?:[^'\\\n]|\\.)*)'|\(\s*\"((?:[^\"\\\n]|\\.)*)\"", text))
    names = {first or second for first, second in taken}
    lines = text.splitlines(keepends=True)
    begins = re.compile(rf"{re.escape(called['test'])}\s*\(")
    spots = [(number, "") for number, line in enumerate(lines) if begins.match(line)]
    if "suite" in called:
        opening = _opening([called["suite"]])
        opened = ((number, opening.match(line)) for number, line in enumerate(lines))
        spots += [(number + 1, f"{one['name']} > ") for number, one in opened if one and not one[1]]
    canaries: dict[str, str] = {}
    drawn = zip(chance.choices([*spots, (len(lines), "")], k=len(ways)), ways, strict=True)
    # The later spot first: a line that was put in moves those below it.
    for (spot, outer), group in sorted(drawn, key=lambda each: each[0], reverse=True):
        name = _name(names | {*canaries}, chance)
        canaries[name] = f"{path}::{outer}{name}"
        a, b, c = chance.sample(range(10, 1_000_000), 3)
        body = chance.choice(group).format(**called, name=name, a=a, b=b, c=c)
        lines.insert(spot, textwrap.indent(f"\n{body}\n\n", "  " if outer else ""))
    return TestFile("".join(lines).encode(), frozenset(canaries.values()))


def sabotaged_nested(
    path: str, source: bytes, tests: Sequence[str], ways: Sequence[str], chance: random.Random
) -> TestFile | None:
    """Begin each test with a way to fail, also in suites (`describe`) whose names are plain.

    Which suite a line is in is told by how far it is indented. Tests of one name are left as they
    are, as `sabotaged` leaves them.
    """
    lines = source.decode().splitlines(keepends=True)
    opening = _opening([*tests, "describe"])
    within: list[tuple[str, str]] = []
    begun: list[tuple[int, str, str]] = []
    for number, line in enumerate(lines):
        space = line[: len(line) - len(line.lstrip())]
        while line.strip() and within and len(space) <= len(within[-1][0]):
            within.pop()
        found = opening.match(line)
        if found and found["called"] == "describe":
            within.append((space, found["name"]))
        elif found and _all_named(space, within, lines[:number]):
            name = " > ".join([*(outer for _, outer in within), found["name"]])
            begun.append((number, space, name))
    names = [name for *_, name in begun]
    ids = set()
    for number, space, name in begun[::-1]:
        if names.count(name) == 1:
            a, b = chance.sample(range(10, 1_000_000), 2)
            lines.insert(number + 1, f"{space}  {chance.choice(ways).format(a=a, b=b)}\n")
            ids.add(f"{path}::{name}")
    return TestFile("".join(lines).encode(), frozenset(ids)) if ids else None


def _opening(names: Sequence[str]) -> re.Pattern[str]:
    """Match a line that opens the body of a test or a suite of a plain name."""
    called = "|".join(map(re.escape, names))
    return re.compile(
        rf"(\s*)(?P<called>{called})\s*\(\s*(?P<quote>['\"])(?P<name>(?:(?!(?P=quote))[^\\\n])+)"
        rf"(?P=quote)\s*,\s*(?:async\s+)?(?:function\s*\w*\s*\([^)]*\)|\([^)]*\)\s*=>)\s*\{{\s*$"
    )


def _all_named(space: str, within: Sequence[tuple[str, str]], before: Sequence[str]) -> bool:
    """Whether each block around a line is a suite of a plain name."""
    depth = len(space)
    for line in reversed(before):
        outer = len(line) - len(line.lstrip())
        if line.strip() and outer < depth:
            if outer not in {len(each) for each, _ in within}:
                return False
            depth = outer
    return depth == 0


def sabotaged(
    path: str, source: bytes, test: str, ways: Sequence[str], chance: random.Random
) -> TestFile | None:
    """Begin each test whose body begins on a line of its own with a way to fail.

    `test` is what the file calls the framework's function; the ways may name `t`, a test's
    argument. Tests of one name are left as they are: their ids depend on their order.
    """
    lines = source.decode().splitlines(keepends=True)
    opening = re.compile(
        rf"{re.escape(test)}\s*\(\s*(['\"])(?P<name>(?:(?!\1)[^\\\n])+)\1\s*,[^;]*?"
        rf"(?:function\s*\w*\s*\(\s*(?P<t>{_NAME})?[^)]*\)"
        rf"|\(\s*(?P<u>{_NAME})?[^)]*\)\s*=>|(?P<v>{_NAME})\s*=>)\s*\{{\s*$"
    )
    begun = [(number, found) for number, line in enumerate(lines) if (found := opening.match(line))]
    names = [found["name"] for _, found in begun]
    ids = set()
    for number, found in begun[::-1]:
        argument = found["t"] or found["u"] or found["v"]
        usable = [way for way in ways if argument or "{t}" not in way]
        if names.count(found["name"]) > 1 or not usable:
            continue
        a, b = chance.sample(range(10, 1_000_000), 2)
        spot = _first_assertion(lines, number + 1, argument)
        lines.insert(spot, f"\t{chance.choice(usable).format(t=argument, a=a, b=b)}\n")
        ids.add(f"{path}::{found['name']}")
    return TestFile("".join(lines).encode(), frozenset(ids)) if ids else None


def _first_assertion(lines: Sequence[str], begin: int, argument: str | None) -> int:
    """Give the line where a body's first assertion may stand: behind its plan, if it has one.

    tape never ends a test that has asserted more before its plan than that plans.
    """
    end = next((n for n in range(begin, len(lines)) if lines[n].startswith("}")), len(lines))
    plan = re.compile(rf"\b{re.escape(argument or '')}\.plan\s*\(")
    planned = (n + 1 for n in range(begin, end) if argument and plan.search(lines[n]))
    return next(planned, begin)


def argv(place: Place, runner: Iterable[str], path: str) -> tuple[str, ...]:
    """Start node with a runner's own options, and let it run a file."""
    options = (*OPTIONS, FROZEN) if place.locked else OPTIONS
    return (*STARTED, *options, *(word.format(folder=place.folder) for word in runner), path)


def _name(taken: set[str], chance: random.Random) -> str:
    """Make a name of the words that the file's own tests are called by.

    It begins none of theirs: in the log it is replaced wherever it stands.
    """
    plain = {word for name in taken for word in re.findall(r"[A-Za-z]{2,}", name)}
    words = sorted(plain) or ["it"]
    names = (" ".join(chance.choices(words, k=count)) for count in itertools.count(2))
    return next(name for name in names if not any(each.startswith(name) for each in taken))
