"""Several trials at once, and what their stored runs add up to."""

import json
from pathlib import Path

import pytest

from tests.end_to_end.commands import TASK, sandbox

pytestmark = [pytest.mark.engine, pytest.mark.slow]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two trials of an agent that passes, two of one that does nothing."""
    folder = tmp_path_factory.mktemp("runs")
    trials = ("--trials", "2", "--jobs", "2", "--runs", folder)
    assert sandbox("run", TASK, "--agent", "oracle", *trials).code == 0
    assert sandbox("run", TASK, "--agent", "null", *trials).code == 1
    return folder


def test_a_report_adds_up_by_agent(runs: Path) -> None:
    ended = sandbox("report", "--json", "--runs", runs)
    assert ended.code == 0, ended.err
    passed = {run["agent"]: run["verdict"] for run in json.loads(ended.out)["runs"]}
    assert passed == {"oracle": "passed", "null": "failed"}
    assert len(json.loads(ended.out)["runs"]) == 4


def test_the_same_runs_give_the_same_report(runs: Path) -> None:
    once, again = (sandbox("report", "--json", "--runs", runs).out for _ in range(2))
    assert once == again


def test_more_than_there_are_trials_is_refused(runs: Path) -> None:
    ended = sandbox("report", "-k", "3", "--runs", runs)
    assert ended.code == 2
    assert "3" in ended.err


def test_two_agents_are_compared_on_the_tasks_of_both(runs: Path) -> None:
    ended = sandbox("compare", "oracle", "null", "--json", "--runs", runs)
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert (found["agent_a"], found["agent_b"]) == ("oracle", "null")
    assert found["whole"]["difference"] == 1.0
