import os
import signal
import sys
from pathlib import Path

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
