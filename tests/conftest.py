import os
import sys
from pathlib import Path

CHOICES = ("SANDBOX_PROJECT", "SANDBOX_RUNS", "SANDBOX_TRANSPORT", "NO_COLOR")


def pytest_configure() -> None:
    """Leave out what the person who runs the tests has chosen for other runs."""
    for name in CHOICES:
        os.environ.pop(name, None)
    # Commands that tests run on this host find the Python that runs the tests, as `python` too.
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
