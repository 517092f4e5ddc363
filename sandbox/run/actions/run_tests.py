"""`run_tests`: the test command, and counts where the runner tells them.

pytest is told by its environment to write a JUnit report to /tmp; tape and node's own runner end
their output with counts (of assertions and of tests), in the comments of TAP.

The counts are for the agent to read; no verdict rests on them.
"""

import contextlib
import re
import secrets
from dataclasses import dataclass
from functools import partial
from xml.etree import ElementTree as ET

from sandbox.model.action import RunTests
from sandbox.model.observation import TestsResult
from sandbox.model.session import AGENT
from sandbox.rules.policy.subject import Subject
from sandbox.run.actions.outcome import Performed
from sandbox.run.actions.prepared import Prepared
from sandbox.run.actions.run_command import BASH, report, result_of, shell_line
from sandbox.run.actions.workspace import Workspace

REPORT_LIMIT = 16 << 20

_TOLD = re.compile(
    rb"^(?:#|\xe2\x84\xb9) (tests|pass|fail|skipped|todo|cancelled) +(\d+)$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Counts:
    """Outcomes of a test run, None where no report tells."""

    passed: int | None = None
    failed: int | None = None
    errors: int | None = None
    skipped: int | None = None


def prepare(action: RunTests, workspace: Workspace) -> Prepared:
    """Take the agent's command, or the task's."""
    command = action.command or workspace.task.tests.command
    return Prepared(Subject(action.name, command=command), partial(_run, action, command))


def _run(action: RunTests, command: str, workspace: Workspace) -> Performed:
    """Run the tests."""
    tests = workspace.task.tests
    place = f"/tmp/report-{secrets.token_hex(8)}.xml"  # noqa: S108 - a random name, in the container
    reporting = {"PYTEST_ADDOPTS": f"--junitxml={place} -o junit_family=xunit1"}
    by_pytest = tests.framework == "pytest"
    completed = workspace.run(
        (BASH, "-c", shell_line(command)),
        seconds=min(action.timeout_seconds or tests.timeout_seconds, tests.timeout_seconds),
        environment=reporting if by_pytest else {},
    )
    counts = _take(workspace, place) if by_pytest else told_by(completed.stdout)
    result = TestsResult(
        **result_of(completed).model_dump(),
        command=command,
        passed=counts.passed,
        failed=counts.failed,
        errors=counts.errors,
        skipped=counts.skipped,
    )
    return report(result, completed)


def counts_of(content: bytes) -> Counts:
    """Add up the suites of a JUnit report; no counts where it is none."""
    if b"<!" in content.replace(b"<![CDATA[", b""):
        return Counts()
    total = failed = errors = skipped = 0
    try:
        for suite in ET.fromstring(content).iter("testsuite"):  # noqa: S314 - no entities, see above
            total += int(suite.attrib["tests"])
            failed += int(suite.attrib["failures"])
            errors += int(suite.attrib["errors"])
            skipped += int(suite.attrib["skipped"])
    except (ET.ParseError, KeyError, ValueError):
        return Counts()
    return Counts(total - failed - errors - skipped, failed, errors, skipped)


def told_by(output: bytes) -> Counts:
    """Add up what runs of tape or node's runner have told at their end; no counts of none."""
    told: dict[str, int] = {}
    for name, count in _TOLD.findall(output):
        told[name.decode()] = told.get(name.decode(), 0) + int(count)
    if "tests" not in told or "pass" not in told:
        return Counts()
    left_out = told.get("skipped", 0) + told.get("todo", 0)
    return Counts(told["pass"], told.get("fail", 0), told.get("cancelled", 0), left_out)


def _take(workspace: Workspace, place: str) -> Counts:
    """Read the report and remove it."""
    try:
        content = workspace.session.read(place, limit=REPORT_LIMIT, user=AGENT, follow=False)
    except OSError:
        return Counts()
    with contextlib.suppress(OSError):
        workspace.session.remove(place)
    return counts_of(content)
