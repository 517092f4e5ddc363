"""Runs pytest on one file in the grading container: `python pytest_runner.py ARGUMENT...`.

It is laid into the container, owned by root; nothing of the project is there beside it. What it
writes, and how it ends, stands in `frameworks/base.py`.
"""

import json
import os
import sys
from typing import IO

import pytest

FINISHED, STATUSES = 16, 200


class Outcomes:
    """Tells of each test when it has ended."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._phases: dict[str, list[pytest.TestReport]] = {}
        self._told = 0
        self.failed = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep one phase of one test; a subtest's report is a part of its test's."""
        if type(report) is pytest.TestReport:
            self._phases.setdefault(report.nodeid, []).append(report)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Tell how a test ended."""
        self._told += 1
        self._write(test=nodeid, outcome=outcome(self._phases.pop(nodeid, [])))

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Take the framework's own count."""
        stats = terminalreporter.stats
        reports = [*stats.get("failed", ()), *stats.get("error", ())]
        self.failed = len({each.nodeid for each in reports if type(each) is pytest.TestReport})

    def end(self) -> None:
        """Say that all was told."""
        self._write(end=self._told)

    def _write(self, **fields: object) -> None:
        self._stream.write(json.dumps(fields) + "\n")
        self._stream.flush()


def outcome(reports: list[pytest.TestReport]) -> str:
    """Make one outcome of a test's phases."""
    phases = {report.when: report.outcome for report in reports}
    expected = any(hasattr(report, "wasxfail") for report in reports)
    if {phases.get("setup", "failed"), phases.get("teardown", "failed")} & {"failed"}:
        return "error"
    if phases.get("call") == "failed":
        return "failed"
    if "skipped" in phases.values():
        return "xfailed" if expected else "skipped"
    if phases.get("call") != "passed":
        return "error"
    return "xpassed" if expected else "passed"


def main(arguments: list[str]) -> None:
    """Run pytest, and end without whatever was registered for the exit."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as stream:
        os.dup2(2, 1)
        outcomes = Outcomes(stream)
        code = int(pytest.main(arguments, plugins=[outcomes]))
        for printed in (sys.stdout, sys.stderr):
            printed.flush()
        finished = code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if finished:
            outcomes.end()
        os._exit(FINISHED + outcomes.failed % STATUSES if finished else code)


if __name__ == "__main__":
    main(sys.argv[1:])
