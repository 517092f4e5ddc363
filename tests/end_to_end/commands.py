"""The real command line, and what it has recorded."""

import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jsonschema import Draft202012Validator

from sandbox.cli.outputs import KINDS, TYPES
from sandbox.container.engines.base import Engine
from sandbox.model import trace as traces
from sandbox.model.event import Entry, RunEnded
from sandbox.model.grade import RunGrade
from sandbox.model.observation import Observation
from sandbox.model.run import RunRecord
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.run.run_containers import RUN
from tests import ROOT, command_server

SANDBOX = str(Path(sys.executable).with_name("sandbox"))
TASK = "inflection/house-terms"
"""The task whose oracle takes the least, for what can be seen with any task."""
HUMANIZE = "humanize/file-sizes"
"""A task with hooks, nested instructions and a dirty worktree, for what has to do with them."""
NO_ENGINE = "unix:///nonexistent/engine.sock"
AT_START = ("PYTHON", "LC_", "LANG")
"""What Python reads of its environment when it starts."""

SECONDS = 300
PATIENT_SECONDS = 900
"""A whole validation, or mining, takes minutes where other tests run beside it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


def sandbox(*arguments: str | Path, **environment: str) -> Ended:
    """Run `sandbox` to its end."""
    return _run(SECONDS, arguments, environment)


def validate(*arguments: str | Path, **environment: str) -> Ended:
    """Run `sandbox validate` to its end."""
    return _run(PATIENT_SECONDS, ("validate", *arguments), environment)


def mine(*arguments: str | Path, **environment: str) -> Ended:
    """Run `sandbox mine` to its end."""
    return _run(PATIENT_SECONDS, ("mine", *arguments), environment)


def _run(
    seconds: float, arguments: tuple[str | Path, ...], environment: Mapping[str, str]
) -> Ended:
    line = [SANDBOX, *map(str, arguments)]
    whole = {**os.environ, **environment}
    if any(name.startswith(AT_START) for name in environment):
        done = subprocess.run(
            line,
            env=whole,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    else:
        done = command_server.run(line, whole, seconds)
    ended = Ended(done.returncode, done.stdout.decode(), done.stderr.decode())
    _conforms([str(each) for each in arguments], ended)
    return ended


def _conforms(words: Sequence[str], ended: Ended) -> None:
    """What any test has a verb print as JSON has to be as the published schema says."""
    if "--json" not in words or not ended.out.strip() or words[0] == "trace":
        return
    found = _validators()
    verb = " ".join(words[:2]) if " ".join(words[:2]) in TYPES else words[0]
    document = json.loads(ended.out)
    found[verb].validate(document)
    kinds = [kind for kind in KINDS.get(verb, ()) if found[f"{verb} {kind}"].is_valid(document)]
    assert verb in TYPES or len(kinds) == 1, f"{words}: a document of the kinds {kinds}"


@functools.cache
def _validators() -> dict[str, Draft202012Validator]:
    whole = json.loads((ROOT / "docs/output.schema.json").read_text())
    return {
        verb: Draft202012Validator({**schema, "$defs": whole["$defs"]})
        for verb, schema in whole["properties"].items()
    }


def run(
    agent: str | Path, runs: Path, *options: str, task: str = TASK, **environment: str
) -> Ended:
    """Run a task by an agent."""
    return sandbox("run", task, "--agent", agent, "--runs", runs, *options, **environment)


def quoted(program: Path) -> str:
    """The command line of an agent in Python."""
    return f"{sys.executable} -S {program}"


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is stored of the newest run."""

    folder: RunFolder

    @property
    def record(self) -> RunRecord:
        return self.folder.record()

    @property
    def grade(self) -> RunGrade:
        return self.folder.load(self.folder.grade, RunGrade)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The events of a trace that is whole."""
        found = traces.read(self.folder.trace)
        assert found.problem == ""
        return found.entries

    @property
    def ended(self) -> RunEnded:
        event = self.entries[-1].event
        assert isinstance(event, RunEnded)
        return event

    @property
    def observations(self) -> list[Observation]:
        return [
            entry.event.observation for entry in self.entries if entry.event.kind == "observation"
        ]


def recorded(runs: Path, engine: Engine) -> Recorded:
    """The newest run, which has ended and left no container behind."""
    found = Recorded(Store(runs).find("last"))
    assert engine.containers(f"{RUN}={found.folder.id}") == []
    assert found.record.ended
    assert found.record.verdict == found.grade.verdict
    return found


def ended_containers(engine: Engine, run_id: str) -> list[str]:
    """The containers of a run, once none of them runs any more."""
    end = time.monotonic() + SECONDS
    while any(each.running for each in engine.containers(f"{RUN}={run_id}")):
        assert time.monotonic() < end
        time.sleep(0.02)
    return [each.id for each in engine.containers(f"{RUN}={run_id}")]


def swept(*words: str) -> list[str]:
    """The containers that `gc` removes; what others left in the temporary folder goes with them."""
    removed: list[str] = json.loads(sandbox("gc", *words, "--json").out)["containers"]
    return removed
