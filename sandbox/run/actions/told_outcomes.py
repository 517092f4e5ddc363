"""What a test runner tells of its own run: by a JUnit report, at the end of TAP, or in lines."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree as ET

_TOLD = re.compile(
    rb"^(?:#|\xe2\x84\xb9) (tests|pass|fail|skipped|todo|cancelled) +(\d+)$", re.MULTILINE
)
_NOT_OK = re.compile(rb"^ *not ok \d+(?: -)? (?!.*# (?:SKIP|TODO))(.+)$", re.MULTILINE)
"""A failed test: https://testanything.org/tap-version-13-specification.html"""

_CROSS = re.compile(rb"^ *\xe2\x9c\x96 (.+?)(?: \([\d.]+ms\))?$", re.MULTILINE)
"""The same, as node's own runner writes it for people."""

_OF_GO = re.compile(rb"^--- (PASS|FAIL|SKIP): (\S+) \(", re.MULTILINE)
"""Go tells of a test that passed only where it is asked to: `go test -v`."""

_OF_CARGO = re.compile(
    rb"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.MULTILINE
)
_FAILED_OF_CARGO = re.compile(rb"^test (\S+)(?: - should panic)? \.\.\. FAILED$", re.MULTILINE)

_OF_CTEST = re.compile(rb"^\d+% tests passed, (\d+) tests? failed out of (\d+)$", re.MULTILINE)
_FAILED_OF_CTEST = re.compile(rb"^\t *\d+ - (.+) \([^()]+\)$", re.MULTILINE)
"""CTest tells of programs, and not of what one of them tests."""

_OF_UNITY = re.compile(rb"^(\d+) Tests (\d+) Failures (\d+) Ignored", re.MULTILINE)
_FAILED_OF_UNITY = re.compile(rb"^(?:.*/)?(\S+?):\d+:(\w+):FAIL\b", re.MULTILINE)
"""The end of a program of Unity's, and its line of a test that failed: `unity.c`."""

_CRASHED = re.compile(
    rb"^(?:.*\d+ )?(?:Segmentation fault|Aborted|Bus error|Illegal instruction|Killed|Terminated"
    rb"|Floating point exception|Trace/breakpoint trap)\b",
    re.MULTILINE,
)
"""What a shell says of a program that a signal has ended."""

_OF_VITEST = re.compile(rb"^ +Tests  (.+) \(\d+\)$", re.MULTILINE)
_COUNT_OF_VITEST = re.compile(rb"(\d+) (failed|passed|skipped|todo)")
_FAILED_OF_VITEST = re.compile(rb"^ +\xc3\x97 (.+?)(?: -?\d+ms)?$", re.MULTILINE)

COLOUR = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")
"""A control sequence of a terminal: ECMA-48, 5.4."""

LONGEST = 300
"""Characters of a test's name."""


@dataclass(frozen=True, slots=True)
class ToldOutcomes:
    """Outcomes of a test run, None where no report tells."""

    passed: int | None = None
    failed: int | None = None
    errors: int | None = None
    skipped: int | None = None
    failing: tuple[str, ...] = ()
    """Names of the tests that failed or ended in an error, in order; pytest's are its ids."""
    crashed: int = 0
    """Programs that a signal has ended before they could tell of their tests: errors, too."""

    @property
    def counted(self) -> bool:
        """Whether a report told anything."""
        return self.passed is not None


def outcomes_of(content: bytes) -> ToldOutcomes:
    """Add up the suites of a JUnit report; no counts where it is none."""
    if b"<!" in content.replace(b"<![CDATA[", b""):
        return ToldOutcomes()
    total = failed = errors = skipped = 0
    try:
        report = ET.fromstring(content)  # noqa: S314 - no entities, see above
        for suite in report.iter("testsuite"):
            total += int(suite.attrib["tests"])
            failed += int(suite.attrib["failures"])
            errors += int(suite.attrib["errors"])
            skipped += int(suite.attrib["skipped"])
    except (ET.ParseError, KeyError, ValueError):
        return ToldOutcomes()
    failing = tuple(dict.fromkeys(_failing(report)))
    return ToldOutcomes(total - failed - errors - skipped, failed, errors, skipped, failing)


def told_by(output: bytes, framework: str) -> ToldOutcomes:
    """Add up what runs of a framework have told; no counts where they have told none."""
    told = {
        "go test": _told_by_go,
        "cargo test": _told_by_cargo,
        "unity": _told_by_unity,
        "vitest": _told_by_vitest,
    }
    return told.get(framework, _told_by_tap)(output)


def _told_by_go(output: bytes) -> ToldOutcomes:
    ended = _OF_GO.findall(output)
    by_word = {word: [name for how, name in ended if how == word] for word, _ in ended}
    failing = _names(by_word.get(b"FAIL", []))
    if b"PASS" not in by_word:
        return ToldOutcomes(failing=failing)
    counts = (len(by_word.get(word, [])) for word in (b"PASS", b"FAIL", b"SKIP"))
    passed, failed, skipped = counts
    return ToldOutcomes(passed, failed, 0, skipped, failing)


def _told_by_cargo(output: bytes) -> ToldOutcomes:
    results = _OF_CARGO.findall(output)
    if not results:
        return ToldOutcomes()
    passed, failed, ignored = (sum(map(int, column)) for column in zip(*results, strict=True))
    return ToldOutcomes(passed, failed, 0, ignored, _names(_FAILED_OF_CARGO.findall(output)))


def _told_by_unity(output: bytes) -> ToldOutcomes:
    found = _OF_CTEST.search(output)
    if found is None:
        return _told_by_programs(output)
    failed, of = int(found[1]), int(found[2])
    return ToldOutcomes(of - failed, failed, 0, 0, _names(_FAILED_OF_CTEST.findall(output)))


def _told_by_programs(output: bytes) -> ToldOutcomes:
    ends = _OF_UNITY.findall(output)
    if not ends:
        return ToldOutcomes()
    total, failed, ignored = (sum(map(int, column)) for column in zip(*ends, strict=True))
    failing = _names([file + b"::" + test for file, test in _FAILED_OF_UNITY.findall(output)])
    crashed = len(_CRASHED.findall(output))
    return ToldOutcomes(total - failed - ignored, failed, crashed, ignored, failing, crashed)


def _told_by_vitest(output: bytes) -> ToldOutcomes:
    plain = COLOUR.sub(b"", output)
    found = _OF_VITEST.search(plain)
    if found is None:
        return ToldOutcomes()
    told = {word: int(count) for count, word in _COUNT_OF_VITEST.findall(found[1])}
    left_out = told.get(b"skipped", 0) + told.get(b"todo", 0)
    failing = _names(_FAILED_OF_VITEST.findall(plain))
    return ToldOutcomes(told.get(b"passed", 0), told.get(b"failed", 0), 0, left_out, failing)


def _told_by_tap(output: bytes) -> ToldOutcomes:
    told: dict[str, int] = {}
    for name, count in _TOLD.findall(output):
        told[name.decode()] = told.get(name.decode(), 0) + int(count)
    if "tests" not in told or "pass" not in told:
        return ToldOutcomes()
    left_out = told.get("skipped", 0) + told.get("todo", 0)
    named = [*_NOT_OK.findall(output), *_CROSS.findall(output)]
    return ToldOutcomes(
        told["pass"], told.get("fail", 0), told.get("cancelled", 0), left_out, _names(named)
    )


def _names(found: list[bytes]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.decode("utf-8", "replace")[:LONGEST] for name in found))


def _failing(report: ET.Element) -> Iterator[str]:
    for case in report.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            yield _id(case.attrib)[:LONGEST]


def _id(case: dict[str, str]) -> str:
    """Give a test's id: a report says its file, and its module and classes in one name.

    A file that could not be imported stands for its tests. A test that a class has from one in
    another file is said to be in that other file.
    """
    file, name, owner = (case.get(key, "") for key in ("file", "name", "classname"))
    module = file.removesuffix(".py").replace("/", ".")
    if name == module:
        return file
    if file and owner and not f"{owner}.".startswith(f"{module}."):
        parts = owner.split(".")
        folders = list(itertools.takewhile(lambda part: not part[:1].isupper(), parts))
        file, module = "/".join(folders) + ".py", ".".join(folders)
    classes = owner.removeprefix(module).strip(".").split(".") if file else [owner]
    return "::".join(part for part in (file, *classes, name) if part)
