"""Stored runs in other people's formats, read by the programs that these belong to."""

import contextlib
import importlib
import json
import shutil
import socket
import subprocess
import sys
import time
import types
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest
from inspect_ai.log import EvalLog, read_eval_log

from sandbox.model import documents, places
from sandbox.model.artifact import Artifact
from sandbox.tasks.sources import Sources
from tests.end_to_end.commands import TASK, sandbox
from tests.end_to_end.looked import Looked

pytestmark = pytest.mark.engine

FAILING = """
- {action: write_file, arguments: {path: "notes <b>.txt", content: x}}
- {action: run_command, arguments: {command: "printf '<script>alert(1)</script>'"}}
- {action: read_file, arguments: {path: does/not/exist}}
- {action: run_command, arguments: {command: git push origin HEAD}}
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two runs of the oracle, and one of a script that fails."""
    folder = tmp_path_factory.mktemp("exported")
    runs, script = folder / "runs", folder / "failing.yaml"
    script.write_text(FAILING)
    for _ in range(2):
        assert sandbox("run", TASK, "--agent", "oracle", "--runs", runs).code == 0
    ended = sandbox("run", TASK, "--agent", script, "--runs", runs, "--tag", "kind=wrong")
    assert ended.code == 1, ended
    return runs


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[types.ModuleType]:
    """Harbor's models of trajectories, without the rest of it, which needs a newer Python."""
    pin = documents.load(Path(__file__).with_name("harbor.yaml"), Artifact)
    wheel = Sources(places.cache()).fetch(pin, lambda _: None)
    folder = tmp_path_factory.mktemp("harbor")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    for name in ("harbor", "harbor.models"):
        module = types.ModuleType(name)
        module.__path__ = [str(folder.joinpath(*name.split(".")))]
        sys.modules[name] = module
    yield importlib.import_module("harbor.models.trajectories")
    for name in [name for name in sys.modules if name.partition(".")[0] == "harbor"]:
        del sys.modules[name]


@pytest.mark.thorough
def test_harbor_reads_trajectories(stored: Path, tmp_path: Path, harbor: types.ModuleType) -> None:
    out = tmp_path / "trajectories"
    ended = sandbox("export", "--as", "atif", "--out", out, "--runs", stored)
    assert ended.code == 0, ended
    files = sorted(out.glob("*.json"))
    assert len(files) == 3
    found = [harbor.Trajectory.model_validate_json(file.read_text()) for file in files]
    for trajectory in found:
        names = {tool["function"]["name"] for tool in trajectory.agent.tool_definitions}
        used = [call.function_name for step in trajectory.steps[1:] for call in step.tool_calls]
        assert used
        assert set(used) <= names
        assert trajectory.steps[0].source == "user"
        assert trajectory.final_metrics.total_steps == len(used) + 1
    assert sorted(each.extra["verdict"] for each in found) == ["failed", "passed", "passed"]
    (failed,) = (each for each in found if each.extra["verdict"] == "failed")
    results = [step.observation.results[0] for step in failed.steps[1:]]
    assert [each.extra["error_code"] for each in results[:3]] == [None, None, "not_found"]
    assert failed.extra["reasons"]


def logs(stored: Path, out: Path) -> list[EvalLog]:
    ended = sandbox("export", "--as", "inspect", "--out", out, "--runs", stored)
    assert ended.code == 0, ended
    return [read_eval_log(str(path)) for path in sorted(out.glob("*.eval"))]


@pytest.mark.slow
def test_inspect_reads_logs(stored: Path, tmp_path: Path) -> None:
    oracle, script = logs(stored, tmp_path / "logs")
    assert (oracle.status, oracle.eval.task, oracle.eval.config.epochs) == ("success", TASK, 2)
    assert oracle.results is not None
    assert oracle.results.scores[0].metrics["accuracy"].value == 1.0
    assert script.samples is not None
    (sample,) = script.samples
    assert sample.scores is not None
    score = sample.scores["verdict"]
    assert (score.value, score.answer) == ("I", "failed")
    assert score.explanation
    kinds = [event.event for event in sample.events]
    assert kinds.count("model") == kinds.count("tool") == 4, "one a turn, else nothing is shown"
    tools = [event for event in sample.events if event.event == "tool"]
    assert tools[2].error is not None
    assert tools[2].error.type == "file_not_found"
    assert [message.role for message in sample.messages] == ["user", *["assistant", "tool"] * 4]


@pytest.mark.thorough
def test_inspect_view_shows_them(stored: Path, tmp_path: Path, looked: Looked) -> None:
    out = tmp_path / "logs"
    logs(stored, out)
    file = sorted(out.glob("*.eval"))[0]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    inspect = Path(sys.executable).with_name("inspect")
    at = ("--log-dir", str(out), "--host", "127.0.0.1", "--port", str(port), "--display", "plain")
    with subprocess.Popen((inspect, "view", "start", *at), stdout=subprocess.DEVNULL) as viewer:
        try:
            wait_for(port)
            page = looked.page
            page.goto(f"http://127.0.0.1:{port}/#/tasks/{quote(file.name)}")
            page.get_by_role("gridcell", name=TASK).first.click(timeout=60_000)
            page.get_by_text("MODEL CALL").first.wait_for(timeout=60_000)
            page.get_by_text("turn 1/").first.wait_for(timeout=60_000)
        finally:
            viewer.terminate()


def wait_for(port: int) -> None:
    """Wait until something listens; it has a minute."""
    for _ in range(240):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.25)
    pytest.fail("inspect view does not listen")


@pytest.mark.slow
def test_a_table_has_a_row_a_run(stored: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs.parquet"
    ended = sandbox("export", "--as", "parquet", "--out", out, "--runs", stored)
    assert ended.code == 0, ended
    rows = pq.read_table(out).to_pylist()
    report = json.loads(sandbox("report", "--json", "--runs", stored).out)
    by_run = {run["run"]: run for run in report["runs"]}
    assert {row["run"] for row in rows} == set(by_run)
    for row in rows:
        told = by_run[row["run"]]
        assert (row["verdict"], row["passed"]) == (told["verdict"], told["verdict"] == "passed")
        assert row["steps"] == told["sizes"]["steps"]
        for name, ratio in told["rates"].items():
            assert row[f"{name}.numerator"] == ratio["numerator"]
            assert row[f"{name}.denominator"] == ratio["denominator"]
    assert sorted(dict(row["tags"]).get("kind", "") for row in rows) == ["", "", "wrong"]


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_training_data_has_the_messages_and_what_they_were_worth(
    stored: Path, tmp_path: Path, shape: str
) -> None:
    out = tmp_path / "runs.jsonl"
    ended = sandbox("export", "--as", shape, "--out", out, "--runs", stored)
    assert ended.code == 0, ended
    lines = [json.loads(text) for text in out.read_text().splitlines()]
    assert sorted(each["reward"] for each in lines) == [0.0, 1.0, 1.0]
    for each in lines:
        shown = sandbox("trace", each["run"], "--messages", shape, "--runs", stored)
        assert each["messages"] == json.loads(shown.out)
        assert {name(tool) for tool in each["tools"]} >= {"run_command", "final_answer"}


def name(tool: dict[str, Any]) -> str:
    return str(tool["function"]["name"] if "function" in tool else tool["name"])


def test_nothing_is_written_over(stored: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.json"
    out.write_text("mine")
    ended = sandbox("export", "last", "--as", "atif", "--out", out, "--runs", stored)
    assert ended.code == 2
    assert "is there already" in ended.err
    assert out.read_text() == "mine"


def test_what_was_altered_is_left_out_and_named(stored: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for record in stored.glob("*/run.json"):
        shutil.copytree(record.parent, runs / record.parent.name)
    altered, *others = sorted(path.name for path in runs.iterdir())
    trace = runs / altered / "trace.jsonl"
    trace.write_bytes(trace.read_bytes().replace(b'"kind":"run_ended"', b'"kind":"run_Ended"'))
    out = tmp_path / "runs.jsonl"
    ended = sandbox("export", "--as", "openai", "--out", out, "--runs", runs)
    assert ended.code == 0, ended
    assert f"left out: {altered}" in ended.err
    assert sorted(json.loads(text)["run"] for text in out.read_text().splitlines()) == others
    ended = sandbox("export", altered, "--as", "atif", "--out", tmp_path / "x", "--runs", runs)
    assert ended.code == 2
    assert not (tmp_path / "x").exists()


def test_a_format_whose_package_is_missing_says_what_to_install(
    stored: Path, tmp_path: Path
) -> None:
    (tmp_path / "pyarrow.py").write_text("raise ImportError")
    out = tmp_path / "runs.parquet"
    words = ("export", "--as", "parquet", "--out", out, "--runs", stored)
    ended = sandbox(*words, PYTHONPATH=str(tmp_path))
    assert (ended.code, out.exists()) == (2, False)
    assert "pip install 'sandbox[parquet]'" in ended.err
