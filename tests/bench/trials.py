"""The command line as people use it: its help, and a whole trial."""

import subprocess
import sys
import tempfile
from pathlib import Path

import docker

from tests.bench.clock import Measure, interleaved
from tests.bench.fixture import TASK, create_and_start, prepared

SANDBOX = str(Path(sys.executable).with_name("sandbox"))
TEN_ACTIONS = Path(__file__).with_name("ten-actions.yaml")


def command(*arguments: str) -> int:
    return subprocess.run([SANDBOX, *arguments], capture_output=True, check=False).returncode


def measure() -> list[Measure]:
    client = docker.APIClient()
    with prepared() as (_, _, image), tempfile.TemporaryDirectory() as runs:

        def trial() -> None:
            ended = command("run", TASK, "--agent", str(TEN_ACTIONS), "--runs", runs)
            assert ended == 1, "ten idle actions solve nothing: the verdict is `failed`"

        def floor() -> None:
            for _ in range(2):
                container = create_and_start(client, image.tag)
                client.remove_container(container, force=True)

        whole, bare = interleaved(10, trial, floor)
    client.close()
    (helped,) = interleaved(10, lambda: command("--help"))
    return [
        (
            "a trial of 10 actions, start-up and grading included",
            "2 containers",
            whole,
            bare,
            3,
            False,
        ),
        ("`sandbox --help`", "the bound, ms", helped, 300, 1, False),
    ]
