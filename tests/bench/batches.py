"""Many runs at once: what they cost beside a few at once, on the same machine."""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.clock import Measure, milliseconds

SANDBOX = str(Path(sys.executable).with_name("sandbox"))
TASK = "humanize/file-sizes"
RUNS, FEW, MANY = 32, 4, 32
ROUNDS = 3


def measure() -> list[Measure]:
    taken: dict[int, list[float]] = {FEW: [], MANY: []}
    for number in range(ROUNDS):
        for jobs in (FEW, MANY) if number % 2 else (MANY, FEW):
            taken[jobs].append(milliseconds(lambda jobs=jobs: batch(jobs)))  # type: ignore[misc]
    few, many = (statistics.median(taken[jobs]) for jobs in (FEW, MANY))
    what = f"{RUNS} oracles, {MANY} at once or as many as find their memory"
    return [(what, f"{FEW} at once", many, few, 1, False)]


def batch(jobs: int) -> None:
    """Run them; all pass, however many there are at once."""
    with tempfile.TemporaryDirectory() as runs:
        words = ("--agent", "oracle", "--trials", str(RUNS), "--jobs", str(jobs), "--runs", runs)
        ended = subprocess.run(
            (SANDBOX, "run", TASK, *words), capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
