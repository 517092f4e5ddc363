"""A plugin of pytest that writes the ids of the tests that pass, a line each, to $REPORT."""

import os
from pathlib import Path

import pytest

_REPORT = Path(os.environ.pop("REPORT"))
_ENDED: dict[str, set[str]] = {}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep how a phase of a test ended."""
    _ENDED.setdefault(report.nodeid, set()).add(report.outcome)


def pytest_sessionfinish() -> None:
    """Write the ids of tests of which each phase has passed."""
    passed = [test for test, outcomes in _ENDED.items() if outcomes == {"passed"}]
    _REPORT.write_text("".join(f"{test}\n" for test in passed))
