"""The proof of a task from images that stand ready, as people start it."""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.clock import Measure, milliseconds
from tests.bench.fixture import TASK, prepared

SANDBOX = str(Path(sys.executable).with_name("sandbox"))
AT_ONCE = 4
BOUND_MS = 60_000


def measure() -> list[Measure]:
    with prepared(), tempfile.TemporaryDirectory() as runs:
        command = [SANDBOX, "validate", TASK, "--jobs", str(AT_ONCE), "--runs", runs]

        def validate() -> None:
            ended = subprocess.run(command, capture_output=True, check=False)
            assert ended.returncode in (0, 1), ended.stderr

        taken = milliseconds(validate)
        count = sum(path.is_dir() for path in Path(runs).iterdir())
    what = f"`sandbox validate` of a task: {count} runs, {AT_ONCE} at once, and gradings"
    return [(what, "the bound, ms", taken, BOUND_MS, 1, False)]
