import os
import signal
import sys
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler.loadscope import LoadScopeScheduling

from tests import ROOT

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


TASK_FILES = sorted((ROOT / "task_repos").glob("*/*/task.yaml"))
TASKS = [path.parent.relative_to(ROOT / "task_repos").as_posix() for path in TASK_FILES]
AGENTS = "tests/task_repos/test_agents.py"
FIRST = (
    "tests/end_to_end/test_validate.py",
    "tests/task_repos/",
    "tests/sandbox/run/exploits/",
    "tests/end_to_end/",
)
"""Whole runs in containers: what takes longest comes first, so that no worker ends long after."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest."""

    def place(item: pytest.Item) -> int:
        found = (at for at, start in enumerate(FIRST) if item.nodeid.startswith(start))
        return next(found, len(FIRST))

    items.sort(key=place)


class ByFixture(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Keeps in one worker what shares the fixtures that take long: a file, or a task's agents."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        tasks = (task for task in TASKS if file == AGENTS and f"[{task}-" in test)
        return next(tasks, file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFixture:
    """Hand tests out by what they share."""
    return ByFixture(config, log)
