import os
import signal
import sys
from pathlib import Path

import pytest

CHOICES = (
    "SANDBOX_PROJECT",
    "SANDBOX_RUNS",
    "SANDBOX_RUNTIME",
    "SANDBOX_TRANSPORT",
    "SANDBOX_INTERCEPTION",
    "NO_COLOR",
)


def pytest_configure() -> None:
    """Leave out what the person who runs the tests has chosen for other runs."""
    for name in CHOICES:
        os.environ.pop(name, None)
    # Whoever starts the tests in the background may have them ignore what tests send.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            interrupt = number is signal.SIGINT
            signal.signal(number, signal.default_int_handler if interrupt else signal.SIG_DFL)
    # Commands that tests run on this host find the Python that runs the tests, as `python` too.
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"


FIRST = ("tests/end_to_end/", "tests/task_repos/", "tests/sandbox/run/exploits/")
"""Whole runs in containers, which take longest."""


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file in one worker, and begin with those that take longest.

    A file's fixtures are then made once. Tests with a group of their own are not kept with the
    others of their file: `engine` are those that look at all containers or images there are, each
    task's wrong agents are a group.
    """
    for item in items:
        if not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))
