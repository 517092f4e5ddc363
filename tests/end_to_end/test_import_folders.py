"""Folders of Harbor and Terminal-Bench become tasks by the command, those that hold here."""

import json
import socket
from pathlib import Path

import pytest

from sandbox.container import engines
from tests.end_to_end.commands import sandbox
from tests.end_to_end.project import Project
from tests.sandbox.tasks.imports.test_foreign_folders import BENCH, HARBOR, written

TESTS = """
import subprocess
from pathlib import Path


def test_the_count():
    assert Path("/app/count").read_text().strip() == "2"


def test_git_is_at_peace():
    assert subprocess.run(["git", "status"], cwd="/app").returncode == 0
"""
REWARD = """#!/bin/bash
python3 -m pip install --break-system-packages pytest==8.4.1 || exit 1
python3 -m pytest /tests/test_it.py -rA && echo 1 > /logs/verifier/reward.txt \\
  || echo 0 > /logs/verifier/reward.txt
"""
UV = """#!/bin/bash
apt-get update
apt-get install -y curl
curl -LsSf https://astral.sh/uv/0.7.13/install.sh | sh
source $HOME/.local/bin/env
uv init
uv add pytest==8.4.1
uv run pytest $TEST_DIR/test_outputs.py -rA
"""
GOOD = {
    **HARBOR,
    "tests/test.sh": REWARD,
    "tests/test_it.py": TESTS,
    "solution/solve.sh": "bash /solution/$COUNTER\n",
    "solution/count.sh": "wc -l < data/log > count\n",
    "task.toml": f"{HARBOR['task.toml']}[solution]\nenv = {{ COUNTER = 'count.sh' }}\n",
}
ELSEWHERE = {**GOOD, "solution/solve.sh": "mkdir -p /tmp/x && echo 2 > /tmp/x/count\n"}
ENDLESS = {**GOOD, "solution/solve.sh": "sleep 1000\n"}
STAGES = {**GOOD, "environment/Dockerfile": "FROM a AS b\nFROM c\nWORKDIR /app\n"}


def network() -> tuple[str, ...]:
    """Where the engine has no network of its own, that of this host."""
    engine = engines.connect()
    try:
        return () if engine.bridged() else ("--network", "host")
    finally:
        engine.close()


FREE = {
    "leaves-a-file",
    "leaves-a-profile",
    "leaves-a-program-in-path",
    "leaves-code-among-the-packages",
}
"""What such a task leaves free: files outside of the working directory."""


@pytest.fixture
def harbor(tmp_path: Path) -> Path:
    for name, files in (("good", GOOD), ("elsewhere", ELSEWHERE), ("stages", STAGES)):
        named = str(files["task.toml"]).replace("org/Count-Lines", f"org/Count-{name}")
        written(tmp_path / "tasks" / name, {**files, "task.toml": named})
    return tmp_path / "tasks"


@pytest.mark.slow
def test_folders_of_harbor_that_hold_become_tasks(
    project: Project, harbor: Path, tmp_path: Path
) -> None:
    ended = sandbox("import", "harbor", harbor, *network(), **project.environment)
    assert ended.code == 1, ended
    lines = ended.out.splitlines()
    assert "good: imported, count-good/task" in lines
    assert "  Its agent is the user `agent` here, and not root." in lines
    assert "elsewhere: refused" in lines
    assert "  oracle: failed: reward, which has to be fixed, ended as failed" in ended.out
    assert "stages: refused" in lines
    assert lines[-1] == "1 of 3 are tasks"
    assert {each.name for each in (project.folder / "task_repos").glob("count-*")} == {"count-good"}

    again = sandbox("import", "harbor", harbor / "good", "--json", **project.environment)
    assert again.code == 0, again
    assert json.loads(again.out)[0]["outcome"] == "there already"

    checked = sandbox("check", "count-good/task", **project.environment)
    assert checked.code == 0, checked
    shown = sandbox("show", "count-good/task", **project.environment)
    assert "Count the lines." in shown.out
    # Reward and tests of the agent's own stay in its container, and what pytest loads by its name.
    forging = (
        "printf 1 > /logs/verifier/reward.txt; mkdir -p /logs/verifier /tests",
        "printf 'import os; os._exit(0)' > conftest.py; printf 'import os' > sitecustomize.py",
        "ls /tests /opt/verifier-offline; pwd; ls /app/data; whoami",
    )
    actions = [{"action": "run_command", "arguments": {"command": each}} for each in forging]
    actions.append({"action": "final_answer", "arguments": {"fields": {}}})
    script = tmp_path / "forger.yaml"
    script.write_text(json.dumps(actions))
    forged = sandbox("run", "count-good/task", "--agent", script, **project.environment)
    assert forged.code == 1, forged.out
    assert "reward, which has to be fixed, ended as failed" in forged.out


def test_a_solution_that_never_ends_is_not_waited_for(project: Project, tmp_path: Path) -> None:
    folder = written(tmp_path / "endless", ENDLESS)
    waiting = ("--patience", "3", *network())
    ended = sandbox("import", "harbor", folder, *waiting, **project.environment)
    assert ended.code == 1, ended
    lines = ended.out.splitlines()
    assert lines[0] == "endless: refused"
    waited = "  An import waits 3 s for a solution, and for tests; --patience says how long."
    assert waited in lines
    assert not list((project.folder / "task_repos").glob("count-*"))


@pytest.mark.slow
def test_a_dockerfile_does_not_reach_what_listens_on_this_machine(
    project: Project, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)

        def built(mode: str) -> str:
            calls = f": < /dev/tcp/127.0.0.1/{listener.getsockname()[1]}"
            lines = f"RUN bash -c '{calls}' || echo {mode}\nRUN exit 3\n"
            changed = {"environment/Dockerfile": f"{GOOD['environment/Dockerfile']}{lines}"}
            folder = written(tmp_path / mode, {**GOOD, **changed})
            ended = sandbox("import", "harbor", folder, "--network", mode, **project.environment)
            assert ended.code == 1, ended
            return ended.out

        assert "exit 3" in built("host")
        listener.accept()[0].close()
        there = "the engine has none" if network() else "exit 3"
        assert there in built("bridge")
        with pytest.raises(TimeoutError):
            listener.accept()


@pytest.mark.thorough
def test_validation_says_which_exploits_an_imported_folder_lets_through(
    project: Project, tmp_path: Path
) -> None:
    folder = written(tmp_path / "good", GOOD)
    assert sandbox("import", "harbor", folder, *network(), **project.environment).code == 0
    only = ("--only", "exploits", "--json")
    ended = sandbox("validate", "count-lines/task", *only, **project.environment)
    assert ended.code == 1, ended
    rows = json.loads(ended.out)["tasks"]["count-lines/task"]["rows"]
    assert {row["what"].partition(" ")[2] for row in rows if not row["holds"]} == FREE
    tried = [row for row in rows if row["holds"] and row["status"] != "skipped"]
    assert len(tried) > 30
    assert all(row["result"] for row in tried)


@pytest.mark.thorough
def test_a_folder_of_terminal_bench_that_fetches_uv_is_tested_without_a_network(
    project: Project, tmp_path: Path
) -> None:
    tests = TESTS.replace("test_it.py", "test_outputs.py")
    changed = {**BENCH, "run-tests.sh": UV, "tests/test_outputs.py": tests}
    # Its image has a user of the name that agents have here.
    dockerfile = f"{HARBOR['environment/Dockerfile']}RUN useradd --create-home agent\n"
    folder = written(tmp_path / "count", {**changed, "Dockerfile": dockerfile})
    named = ("--prefix", "tb-", *network())
    ended = sandbox("import", "terminal-bench", folder, *named, **project.environment)
    assert ended.code == 0, ended
    assert "count: imported, tb-count/task" in ended.out


def test_a_place_without_tasks_says_what_it_lacks(project: Project, tmp_path: Path) -> None:
    ended = sandbox("import", "harbor", tmp_path, **project.environment)
    assert ended.code == 2
    assert "holds no task.toml" in ended.err
