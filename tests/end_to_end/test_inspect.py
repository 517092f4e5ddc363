"""Our tasks under Inspect: its models act, its solvers too, and our verdict is the score."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sandbox.container import engines
from sandbox.model.store import Store
from sandbox.run.run_containers import RUN
from sandbox.tasks import library
from tests import ROOT
from tests.end_to_end.commands import TASK, sandbox

pytestmark = pytest.mark.engine

EVALUATING = Path(__file__).with_name("inspect_eval.py")
Call = dict[str, Any]


def evaluated(calls: list[Call], solver: str, folder: Path) -> dict[str, Any]:
    """Let Inspect evaluate the task; the run lies in `folder/runs`."""
    name = f"sandbox/{TASK.replace('/', '-')}"
    done = subprocess.run(
        [sys.executable, EVALUATING, name, solver, folder / "logs"],
        input=json.dumps(calls),
        env={**os.environ, "SANDBOX_RUNS": str(folder / "runs")},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert found["status"] == "success"
    return found


def shown(run: str, folder: Path) -> dict[str, Any]:
    ended = sandbox("runs", "--json", "--runs", folder / "runs")
    (record,) = (each for each in json.loads(ended.out) if each["id"] == run)
    return dict(record)


@pytest.mark.slow
def test_the_oracle_as_a_model_is_correct(tmp_path: Path) -> None:
    oracle = library.load(TASK).task.oracle
    calls = [{"action": each.action, "arguments": dict(each.arguments)} for each in oracle]
    found = evaluated(calls, "ours", tmp_path)
    assert (found["value"], len(found["tools"])) == ("C", len(oracle))
    record = shown(found["run"], tmp_path)
    assert (record["verdict"], record["agent"]) == ("passed", "inspect mockllm/model")
    assert record["end"]["how"] == "answered"


@pytest.mark.thorough
def test_a_model_that_gives_up_is_incorrect_for_our_reasons(tmp_path: Path) -> None:
    calls = [
        {"action": "read_file", "arguments": {"path": "nowhere.txt"}},
        {"action": "run_command", "arguments": {"command": "git push origin HEAD"}},
    ]
    found = evaluated(calls, "ours", tmp_path)
    assert found["value"] == "I"
    assert "There is no final answer" in found["explanation"]
    assert found["tools"][0][1].startswith("not_found: ")


@pytest.mark.thorough
def test_a_solver_of_others_acts_in_the_same_container(tmp_path: Path) -> None:
    """Inspect's own `bash` reaches it by an action, so the trace has it."""
    calls = [
        {"action": "bash", "arguments": {"command": "pwd; git log --oneline | head -1"}},
        {"action": "bash", "arguments": {"command": "echo mine > mine.txt; exit 3"}},
    ]
    found = evaluated(calls, "theirs", tmp_path)
    assert found["value"] == "I"
    assert "/home/agent/" in found["tools"][0][0]
    ended = sandbox("trace", found["run"], "--json", "--runs", tmp_path / "runs")
    events = [json.loads(text)["event"] for text in ended.out.splitlines()]
    asked = [each["arguments"]["command"] for each in events if each["kind"] == "action"]
    assert len(asked) == 2
    assert any(each["kind"] == "changed" and each["path"] == "mine.txt" for each in events)


def test_the_sandbox_of_solvers_reads_writes_and_refuses(tmp_path: Path) -> None:
    told = evaluated([], "files", tmp_path)["told"]
    assert (told["text"], told["bytes"]) == ("one\n", [255, 0])
    assert told["exec"] == [True, 0, "in /tmp\né $\n"]
    assert told["failed"] == 1
    assert told["refused"] == ["FileNotFoundError", "PermissionError", "PermissionError"]


@pytest.mark.slow
def test_an_interrupt_ends_the_run_and_its_action(tmp_path: Path) -> None:
    name = f"sandbox/{TASK.replace('/', '-')}"
    runs = tmp_path / "runs"
    with subprocess.Popen(
        [sys.executable, EVALUATING, name, "ours", tmp_path / "logs"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "SANDBOX_RUNS": str(runs)},
        cwd=ROOT,
        text=True,
        start_new_session=True,
    ) as evaluating:
        assert evaluating.stdin
        try:
            call = {"action": "run_command", "arguments": {"command": "sleep 600"}}
            evaluating.stdin.write(json.dumps([call]))
            evaluating.stdin.close()
            deadline = time.monotonic() + 100
            while not any("sleep 600" in trace.read_text() for trace in runs.glob("*/trace.jsonl")):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            evaluating.send_signal(signal.SIGINT)
            evaluating.wait(timeout=60)
        finally:
            evaluating.kill()
    (folder,) = Store(runs).folders()
    assert folder.record().problem == "It was interrupted."
    engine = engines.connect()
    try:
        assert engine.containers(f"{RUN}={folder.id}") == []
    finally:
        engine.close()
