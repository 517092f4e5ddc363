import os

CHOICES = ("SANDBOX_PROJECT", "SANDBOX_RUNS", "SANDBOX_TRANSPORT", "NO_COLOR")


def pytest_configure() -> None:
    """Leave out what the person who runs the tests has chosen for other runs."""
    for name in CHOICES:
        os.environ.pop(name, None)
