"""A run, done again: the same facts in a fresh world, and what makes it differ is found."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model.store import Store
from tests.end_to_end import commands
from tests.end_to_end.commands import HUMANIZE, recorded, sandbox

run = partial(commands.run, task=HUMANIZE)
pytestmark = pytest.mark.engine

TASKS = Path(__file__).parent.parent.parent / "task_repos"


COMMITS = """
- {action: write_file, arguments: {path: changes/HUM-214.fix.md, content: "Sizes are mended.\\n"}}
- action: run_command
  arguments:
    command: >-
      git add changes/HUM-214.fix.md &&
      git commit -qm 'number: add more' -m 'Refs: HUM-214' -- changes/HUM-214.fix.md
- {action: read_file, arguments: {path: changes/HUM-214.fix.md}}
- {action: run_tests, arguments: {command: "pytest -q tests/test_lists.py"}}
"""


@pytest.mark.slow
def test_the_same_actions_have_the_same_facts(runs: Path, tmp_path: Path, engine: Engine) -> None:
    script = tmp_path / "commits.yaml"
    script.write_text(COMMITS)
    assert run(script, runs).code == 1
    kinds = {entry.event.kind for entry in recorded(runs, engine).entries}
    assert kinds >= {"changed", "committed", "index_changed", "read", "tested"}
    ended = sandbox("replay", "last", "--json", "--runs", runs)
    assert ended.code == 0, ended
    (done,) = json.loads(ended.out)
    assert (done["then"], done["now"], done["differences"]) == ("failed", "failed", [])
    store = Store(runs)
    assert len(list(store.folders())) == 1, "what proves something is in no list"
    assert store.checks.folder(done["run"]).record().agent.startswith("replay of ")


CHANCE = """
- action: run_command
  arguments: {command: "head -c 8 /dev/urandom > src/humanize/drawn.txt; date +%N > /dev/null"}
- action: run_command
  arguments: {command: "test -d /tmp"}
"""


@pytest.mark.slow
def test_what_depends_on_chance_is_found(runs: Path, tmp_path: Path, engine: Engine) -> None:
    script = tmp_path / "chance.yaml"
    script.write_text(CHANCE)
    assert run(script, runs).code == 1
    ended = sandbox("replay", "last", "--runs", runs)
    assert ended.code == 1, ended
    assert "failed  1 actions differ" in ended.out
    assert "action 1, run_command" in ended.out
    assert ended.out.count("src/humanize/drawn.txt") == 2


@pytest.mark.thorough
@pytest.mark.parametrize(
    "task",
    sorted(path.parent.relative_to(TASKS).as_posix() for path in TASKS.glob("*/*/task.yaml")),
)
def test_twenty_replays_of_each_oracle_differ_in_nothing(
    runs: Path, engine: Engine, task: str
) -> None:
    assert sandbox("run", task, "--agent", "oracle", "--runs", runs).code == 0
    ended = sandbox("replay", "last", "--times", "20", "--runs", runs)
    assert ended.code == 0, ended.out


@pytest.mark.slow
def test_a_run_of_another_version_of_its_task_is_refused(
    runs: Path, engine: Engine, tmp_path: Path
) -> None:
    assert run("null", runs).code == 1
    project = tmp_path / "project"
    project.mkdir()
    for name in ("task_repos", "images", "suites"):
        shutil.copytree(TASKS.parent / name, project / name)
    task = project / "task_repos" / "humanize" / "file-sizes" / "task.yaml"
    task.write_text(task.read_text() + "\n")
    ended = sandbox("replay", "last", "--runs", runs, SANDBOX_PROJECT=str(project))
    assert (ended.code, "has changed since" in ended.err) == (2, True)
