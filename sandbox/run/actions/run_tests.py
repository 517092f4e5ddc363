"""`run_tests`: the test command, and counts where the runner tells them.

pytest is told by its environment to write a JUnit report to /tmp; tape and node's own runner end
their output with counts (of assertions and of tests), in the comments of TAP; cargo ends it with
counts, as CTest does, and Go tells of each test where `-v` asks for it.

The counts are for the agent to read; no verdict rests on them.
"""

import contextlib
import re
import secrets
from functools import partial

from sandbox.model.action import RunTests
from sandbox.model.observation import TestsResult
from sandbox.model.session import AGENT, Completed
from sandbox.rules.policy.subject import Subject
from sandbox.run.actions.outcome import Performed
from sandbox.run.actions.prepared import Prepared
from sandbox.run.actions.run_command import BASH, report, result_of, shell_line
from sandbox.run.actions.told_outcomes import ToldOutcomes, outcomes_of, told_by
from sandbox.run.actions.workspace import Workspace

REPORT_LIMIT = 16 << 20
SILENT = ("make", "go test", "unity")
"""Frameworks whose runs may well tell no counts."""

FAILING = 50
"""Tests that are named; the counts are of all."""

_COLOUR = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
"""A control sequence of a terminal: ECMA-48, 5.4."""


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
    told = _take(workspace, place) if by_pytest else told_by(completed.stdout, tests.framework)
    plain = result_of(completed)
    result = TestsResult(
        **plain.model_dump(exclude={"stdout", "stderr"}),
        stdout=_COLOUR.sub("", plain.stdout),
        stderr=_COLOUR.sub("", plain.stderr),
        command=command,
        passed=told.passed,
        failed=told.failed,
        errors=told.errors,
        skipped=told.skipped,
        failing=told.failing[:FAILING],
        failing_truncated=len(told.failing) > FAILING,
        problem=_problem(told, completed, silent=tests.framework in SILENT),
    )
    return report(result, completed)


def _problem(told: ToldOutcomes, completed: Completed, *, silent: bool) -> str:
    """Say how a run ended that has told no counts, and that none failed is not meant by that.

    A framework that is silent where all is well is asked for nothing then. A program of several
    may have ended before it could tell of what failed in it.
    """
    if told.crashed:
        how = "ended by a signal before the end of its tests: an error each, and no more is counted"
        return f"Programs {how}: {told.crashed}."
    if told.counted and completed.exit_code != 0 and not (told.failed or told.errors):
        end = f"ended with exit code {completed.exit_code}"
        return f"The command {end}, and no test that was counted failed: its output says what did."
    if told.counted or (silent and (completed.exit_code == 0 or told.failing)):
        return ""
    if completed.timed_out:
        end = "was killed for its time"
    elif completed.signal is not None:
        end = f"was killed by signal {completed.signal}"
    else:
        end = f"ended with exit code {completed.exit_code}"
    if silent:
        return f"The command {end} and told no counts: its output says what failed."
    return f"The command {end} before a test runner reported: no test is counted."


def _take(workspace: Workspace, place: str) -> ToldOutcomes:
    """Read the report and remove it."""
    try:
        content = workspace.session.read(place, limit=REPORT_LIMIT, user=AGENT, follow=False)
    except OSError:
        return ToldOutcomes()
    with contextlib.suppress(OSError):
        workspace.session.remove(place)
    return outcomes_of(content)
