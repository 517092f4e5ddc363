import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler.loadscope import LoadScopeScheduling

from sandbox.container import engines
from sandbox.container.engines.base import Engine
from tests import ROOT, samples

CHOICES = (
    "SANDBOX_PROJECT",
    "SANDBOX_RUNS",
    "SANDBOX_RUNTIME",
    "SANDBOX_TRANSPORT",
    "SANDBOX_INTERCEPTION",
    "NO_COLOR",
)


TASK_FILES = sorted((ROOT / "task_repos").glob("*/*/task.yaml"))
TASKS = [path.parent.relative_to(ROOT / "task_repos").as_posix() for path in TASK_FILES]
AGENTS = "tests/task_repos/test_agents.py"
BUSY = ("tests/end_to_end/test_validate.py", "tests/task_repos/", "tests/sandbox/run/exploits/")
"""What keeps processors busy; most other tests wait for something."""


def pytest_configure() -> None:
    """Leave out what the person who runs the tests has chosen for other runs.

    And time nothing: a busy machine takes as long as it takes.
    """
    settings.register_profile("untimed", settings(), deadline=None)
    settings.load_profile("untimed")
    for name in CHOICES:
        os.environ.pop(name, None)
    # Whoever starts the tests in the background may have them ignore what tests send.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            interrupt = number is signal.SIGINT
            signal.signal(number, signal.default_int_handler if interrupt else signal.SIG_DFL)
    # Commands that tests run on this host find the Python that runs the tests, as `python` too.
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """The engine that the environment names."""
    engine = engines.connect()
    yield engine
    engine.close()


def shared(nodeid: str) -> str:
    """What a test shares its fixtures with: those of its file, or of a task's agents."""
    file, _, test = nodeid.partition("::")
    tasks = (task for task in TASKS if file == AGENTS and f"[{task}-" in test)
    return next(tasks, file)


@pytest.hookimpl(tryfirst=True)  # before marks choose
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to `make test-all` what no sample has.

    And mix what keeps processors busy with what waits, from the beginning to the end.
    """
    samples.put_off(items)
    keys = dict.fromkeys(shared(item.nodeid) for item in items)
    busy = [key for key in keys if key in TASKS or key.startswith(BUSY)]
    waiting = [key for key in keys if key not in busy]
    rank = {key: place / len(part) for part in (busy, waiting) for place, key in enumerate(part)}
    items.sort(key=lambda item: rank[shared(item.nodeid)])


class ByFixture(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Keeps in one worker what shares fixtures that take long to make."""

    def _split_scope(self, nodeid: str) -> str:
        return shared(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFixture:
    """Hand tests out by what they share."""
    return ByFixture(config, log)
