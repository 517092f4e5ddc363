"""What a test runner tells of its own run: a JUnit report, or the lines at the end of TAP."""

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


def told_by(output: bytes) -> ToldOutcomes:
    """Add up what runs of tape or node's runner have told at their end; no counts of none."""
    told: dict[str, int] = {}
    for name, count in _TOLD.findall(output):
        told[name.decode()] = told.get(name.decode(), 0) + int(count)
    if "tests" not in told or "pass" not in told:
        return ToldOutcomes()
    left_out = told.get("skipped", 0) + told.get("todo", 0)
    named = [*_NOT_OK.findall(output), *_CROSS.findall(output)]
    failing = tuple(dict.fromkeys(name.decode("utf-8", "replace")[:LONGEST] for name in named))
    return ToldOutcomes(
        told["pass"], told.get("fail", 0), told.get("cancelled", 0), left_out, failing
    )


def _failing(report: ET.Element) -> Iterator[str]:
    for case in report.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            yield _id(case.attrib)[:LONGEST]


def _id(case: dict[str, str]) -> str:
    """Give a test's id: a report says its file, and its module and classes in one name.

    A file that could not be imported stands for its tests.
    """
    file, name, owner = (case.get(key, "") for key in ("file", "name", "classname"))
    module = file.removesuffix(".py").replace("/", ".")
    if name == module:
        return file
    classes = owner.removeprefix(module).strip(".").split(".") if file else [owner]
    return "::".join(part for part in (file, *classes, name) if part)
