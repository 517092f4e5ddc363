"""Where things lie on this machine. Nothing here makes a folder."""

import os
from pathlib import Path


def project() -> Path:
    """The folder that holds `images/` and `task_repos/`: SANDBOX_PROJECT, else this checkout."""
    return Path(os.environ.get("SANDBOX_PROJECT") or Path(__file__).resolve().parents[2])


def cache() -> Path:
    """Where what can be made again is kept: SANDBOX_CACHE, else the user's cache folder."""
    if chosen := os.environ.get("SANDBOX_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sandbox"


def runs() -> Path:
    """Where runs are kept: SANDBOX_RUNS, else `./runs`."""
    return Path(os.environ.get("SANDBOX_RUNS") or "runs")
