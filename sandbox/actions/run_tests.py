"""`run_tests`: the test command, and counts where the runner writes a report.

The counts are for the agent to read; no verdict rests on them.
"""

import contextlib
import secrets
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from sandbox.actions.outcome import Performed
from sandbox.actions.run_command import BASH, report, result_of, shell_line
from sandbox.actions.workspace import Workspace
from sandbox.model.action import RunTests
from sandbox.model.observation import TestsResult
from sandbox.model.session import AGENT

REPORT_LIMIT = 16 << 20


@dataclass(frozen=True, slots=True)
class Counts:
    """Outcomes of a test run, None where no report tells."""

    passed: int | None = None
    failed: int | None = None
    errors: int | None = None
    skipped: int | None = None


def run_tests(action: RunTests, workspace: Workspace) -> Performed:
    """Run the tests; pytest is told by its environment to write a JUnit report to /tmp."""
    tests = workspace.task.tests
    command = action.command or tests.command
    place = f"/tmp/report-{secrets.token_hex(8)}.xml"  # noqa: S108 - a random name, in the container
    completed = workspace.run(
        (BASH, "-c", shell_line(command)),
        seconds=min(action.timeout_seconds or tests.timeout_seconds, tests.timeout_seconds),
        environment={"PYTEST_ADDOPTS": f"--junitxml={place} -o junit_family=xunit1"},
    )
    counts = _take(workspace, place)
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


def _take(workspace: Workspace, place: str) -> Counts:
    """Read the report and remove it."""
    try:
        content = workspace.session.read(place, limit=REPORT_LIMIT, user=AGENT, follow=False)
    except OSError:
        return Counts()
    with contextlib.suppress(OSError):
        workspace.session.remove(place)
    return counts_of(content)
