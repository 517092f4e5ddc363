"""A trial of ten actions and its tests, beside the same with docker-py, mini-swe-agent and Inspect.

Each is a command of its own, start-up included, over the same image: ten shell lines, then the
task's visible tests, which fail. They run these in the agent's container; we run hidden ones in a
fresh container, with cases, canaries and a decoy, and grade the path as well.
"""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from sandbox.model import places
from tests.bench.clock import Measure, interleaved
from tests.bench.fixture import LABELS, TASK, prepared
from tests.bench.trials import TEN_ACTIONS, command
from tests.end_to_end import composed

PROGRAMS = Path(__file__).with_name("others")
AT_ONCE = (1, 4, 16)
ROUNDS = 2
SECONDS = 600
BOUNDS = {"docker": (7, 4, 4), "native": (12, 8, 8)}
"""How many times faster than Inspect, by how many are at once."""
UNGRADED = 0.5
"""Of those that neither watch, nor collect, nor grade: what all that costs at most."""
LINES = (
    *("ls", "cat AGENTS.md", "grep -rn naturalsize src", "cat src/humanize/filesize.py"),
    *("git log --oneline", "echo 'first impressions' > notes.txt", "rm notes.txt", "true"),
    *("git diff", "git status"),
)
TESTS = "/opt/venv/bin/python -m pytest -q -x tests/test_filesize.py"


@dataclass(frozen=True, slots=True)
class Peers:
    """Where the others' environments lie, and what they are told."""

    folder: Path
    docker_config: Path
    image: str

    def program(self, name: str, script: str, at_once: int) -> None:
        """Run a program with so many trials at once."""
        python = self.folder / name / "bin" / "python"
        self._run([str(python), str(PROGRAMS / script), json.dumps(self._order(at_once))], {})

    def inspect(self, at_once: int) -> None:
        """Let Inspect run so many samples at once."""
        with tempfile.TemporaryDirectory() as logs:
            compose = Path(logs, "compose.yaml")
            service = {
                "image": self.image,
                "command": "tail -f /dev/null",
                "init": True,
                "network_mode": "none",
                "stop_grace_period": "1s",
                "x-local": True,
                "labels": LABELS,
            }
            compose.write_text(yaml.safe_dump({"services": {"default": service}}))
            order = self._order(at_once) | {"compose": str(compose)}
            words = ["eval", "inspect_task.py", "--model", "mockllm/model"]
            words += ["--max-samples", str(at_once), "--max-sandboxes", str(at_once)]
            words += ["--display", "none", "--log-dir", logs]
            program = str(self.folder / "inspect" / "bin" / "inspect")
            self._run([program, *words], {"ORDER": json.dumps(order)})
            assert list(Path(logs).glob("*.eval")), "Inspect has written no log"

    def _order(self, at_once: int) -> dict[str, object]:
        return {
            "image": self.image,
            "labels": LABELS,
            "lines": LINES,
            "tests": TESTS,
            "folder": "/home/agent/humanize",
            "at_once": at_once,
        }

    def _run(self, words: list[str], variables: Mapping[str, str]) -> None:
        environment = {**os.environ, "DOCKER_CONFIG": str(self.docker_config), **variables}
        done = subprocess.run(
            words,
            env=environment,
            cwd=PROGRAMS,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def others(image: str) -> Iterator[Peers]:
    """Install the others, once, and Compose for Inspect."""
    folder = places.cache() / "peers"
    for name, pin in yaml.safe_load((PROGRAMS / "pins.yaml").read_text()).items():
        stamp = folder / name / "installed"
        if not stamp.exists() or stamp.read_text() != pin:
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder / name], check=True)
            pip = [folder / name / "bin" / "python", "-m", "pip", "install", "--quiet"]
            subprocess.run([*pip, pin, "setuptools"], check=True)
            stamp.write_text(pin)
    with tempfile.TemporaryDirectory() as place:
        plugins = Path(place, "config", "cli-plugins")
        plugins.mkdir(parents=True)
        (plugins / "docker-compose").symlink_to(composed.program(Path(place)))
        yield Peers(folder, plugins.parent, image)


def ours(engine: str, at_once: int, runs: str) -> None:
    """Run so many trials at once ourselves."""
    words = ["run", TASK, "--agent", str(TEN_ACTIONS), "--runs", runs, "--engine", engine]
    if at_once > 1:
        name = secrets.token_hex(4)
        words += ["--trials", str(at_once), "--jobs", str(at_once), "--experiment", name]
    assert command(*words) == 1, "ten idle actions solve nothing: the verdict is `failed`"


def measure() -> list[Measure]:
    rows: list[Measure] = []
    with (
        prepared() as (_, _, image),
        others(image.tag) as peers,
        tempfile.TemporaryDirectory() as runs,
    ):
        for place, number in enumerate(AT_ONCE):
            works = _works(peers, number, runs)
            taken = dict(zip(works, interleaved(ROUNDS, *works.values()), strict=True))
            rows += _rows(taken, number, place)
    return rows


def _works(peers: Peers, number: int, runs: str) -> dict[str, Callable[[], None]]:
    """What is measured, by whose it is."""
    mini = "mini-swe-agent", "with_mini_swe_agent.py"
    return {
        "docker": lambda: ours("docker", number, runs),
        "native": lambda: ours("native", number, runs),
        "docker-py": lambda: peers.program("docker-py", "with_docker_py.py", number),
        "mini-swe-agent": lambda: peers.program(*mini, number),
        "Inspect": lambda: peers.inspect(number),
    }


def _rows(taken: Mapping[str, float], number: int, place: int) -> list[Measure]:
    what = "a trial of ten actions" if number == 1 else f"{number} of them at once"
    rows: list[Measure] = []
    for engine in ("docker", "native"):
        for name in ("Inspect", "mini-swe-agent", "docker-py"):
            bound = BOUNDS[engine][place] if name == "Inspect" else UNGRADED
            label = f"{what}, engine {engine}"
            rows.append((label, f"{name}'s", taken[engine], taken[name], bound, True))
    return rows
