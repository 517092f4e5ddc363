"""Experiments: several tasks and agents, and going on where one was killed."""

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.end_to_end.commands import NO_ENGINE, SANDBOX, SECONDS, TASK, Ended, sandbox

pytestmark = pytest.mark.engine


def listed(runs: Path, name: str) -> list[dict[str, object]]:
    told = sandbox("runs", "--experiment", name, "--limit", "1000", "--json", "--runs", runs)
    assert told.code == 0, told.err
    found: list[dict[str, object]] = json.loads(told.out)
    return found


@pytest.mark.slow
def test_agents_and_modes_on_several_tasks_are_one_experiment(runs: Path) -> None:
    words: tuple[str, ...] = ("run", "inflection/house*", "inflection/last*", "--agent", "oracle")
    words += ("--agent", "null", "--mode", "raw")
    words += ("--mode", "minimal", "--jobs", "2", "--experiment", "all", "--runs", str(runs))
    ended = sandbox(*words)
    assert ended.code == 1, ended.err
    assert "8 runs: 4 passed, 4 failed" in ended.out
    cells = Counter((run["task"], run["agent"], run["mode"]) for run in listed(runs, "all"))
    assert set(cells.values()) == {1}
    assert len(cells) == 8
    again = sandbox(*words)
    assert "8 of 8 runs are over" in again.out
    (only,) = json.loads(
        sandbox("run", "inflection/house*", "--agent", "oracle", "--json", "--runs", runs).out
    )
    assert only["verdict"] == "passed", "what a pattern names is an experiment, of one run as well"
    assert again.code == 1
    assert len(listed(runs, "all")) == 8, "nothing was run again"
    report = json.loads(sandbox("report", "--experiment", "all", "--json", "--runs", runs).out)
    assert {agent["agent"]: agent["passed"] for agent in report["agents"]} == {
        "null": 0,
        "null [minimal]": 0,
        "oracle": 2,
        "oracle [minimal]": 2,
    }


@pytest.mark.slow
def test_runs_under_a_bound_are_an_experiment_of_their_own(runs: Path) -> None:
    """The agent is told the smaller budget, and no report adds such runs to others."""
    words = ("run", TASK, "--agent", "oracle", "--experiment", "x", "--runs", str(runs))
    ended = sandbox(*words, "--turns", "3", "--max-tokens", "9")
    assert ended.code == 1, ended
    (run,) = listed(runs, "x")
    end = run["end"]
    assert isinstance(end, dict)
    assert (end["message"], end["turns"]) == ("The 3 actions are used up.", 3)
    report = json.loads(sandbox("report", "--json", "--runs", runs).out)
    assert [agent["agent"] for agent in report["agents"]] == ["oracle [at most 3 turns, 9 tokens]"]
    assert (
        "bounded nothing: the agent told no tokens" in sandbox("show", "last", "--runs", runs).out
    )
    other = sandbox(*words)
    assert (other.code, "is another one" in other.err) == (2, True)
    assert sandbox("resume", "x", "--runs", runs).code == 1, "over, with the bounds of the plan"


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        (("--turns", "0"), "--turns"),
        (("--seconds", "-1"), "--seconds is -1"),
        (("--max-cost", "nan"), "--max-cost is nan"),
    ],
)
def test_a_bound_that_lets_nothing_happen_is_refused(
    runs: Path, bound: tuple[str, str], said: str
) -> None:
    ended = sandbox("run", TASK, "--agent", "null", *bound, "--runs", runs)
    assert (ended.code, said in ended.err) == (2, True)
    assert not list(runs.glob("*"))


@pytest.mark.slow
def test_errors_are_run_again_a_bounded_number_of_times_and_failures_never(
    runs: Path, tmp_path: Path
) -> None:
    """An agent without quota at first: of two trials each is refused once, then does nothing."""
    agent = tmp_path / "agent.sh"
    agent.write_text(
        f"read -r briefing\nmkdir {tmp_path}/seen || mkdir {tmp_path}/twice || exit 0\nexit 75\n"
    )
    trials = ("--agent", f"sh {agent}", "--trials", "2", "--experiment", "x", "--runs", runs)
    once = sandbox("run", TASK, *trials, "--retries", "0")
    assert once.code == 3, once
    assert "2 runs: 2 error" in once.out
    again = sandbox("run", TASK, *trials)
    assert again.code == 1, again
    assert "2 runs: 2 failed" in again.out
    assert len(listed(runs, "x")) == 4
    assert sandbox("run", TASK, *trials).code == 1
    assert len(listed(runs, "x")) == 4


@pytest.mark.slow
def test_an_agent_that_was_edited_does_not_go_on_under_the_same_name(
    runs: Path, tmp_path: Path
) -> None:
    agent = tmp_path / "agent.sh"
    agent.write_text("read -r briefing\n")
    words = ("run", TASK, "--agent", f"sh {agent}", "--experiment", "x", "--runs", runs)
    assert sandbox(*words).code == 1
    agent.write_text("read -r briefing || true\n")
    ended = sandbox(*words)
    assert (ended.code, "versions of agents are others" in ended.err) == (2, True)


def begun(*words: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        (SANDBOX, *map(str, words)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@pytest.mark.parametrize(
    ("kills", "trials"), [(2, 3), pytest.param(50, 20, marks=pytest.mark.thorough)]
)
@pytest.mark.slow
def test_a_killed_experiment_loses_no_cell_and_doubles_none(
    runs: Path, kills: int, trials: int
) -> None:
    """Where an experiment is done before all kills have been dealt, another one is begun."""
    chance = random.Random(20261123)
    words = ("run", TASK, "--agent", "null", "--jobs", "2", "--trials", str(trials), "--runs", runs)
    names: list[str] = []
    killed, over = 0, True
    while killed < kills:
        names += [f"killed-{len(names)}"] if over else []
        first = (*words, "--experiment", names[-1])
        process = begun(*(first if over else ("resume", names[-1], "--jobs", "2", "--runs", runs)))
        time.sleep(chance.uniform(0.5, 4.0))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        over = process.returncode != -signal.SIGKILL
        killed += not over
    for name in names:
        ended: Ended = sandbox(*words, "--experiment", name)
        assert ended.code == 1, ended
        assert f"{trials} runs: {trials} failed" in ended.out
        verdicts = Counter(run["verdict"] for run in listed(runs, name))
        assert verdicts["failed"] == trials, "each cell has one run that counts"
        assert set(verdicts) <= {"failed", "error"}, "what was killed is an error"
    left = sandbox("resume", "--runs", runs)
    assert (left.code, "nothing" in left.err) == (2, False)
    assert "anything left to do" in left.err


@pytest.mark.slow
def test_several_processes_share_what_is_planned_and_one_that_is_killed_loses_nothing(
    runs: Path,
) -> None:
    words = ("run", TASK, "--agent", "null", "--trials", "6", "--experiment", "shared")
    planned = sandbox(*words, "--jobs", "0", "--runs", runs)
    assert (planned.code, planned.err) == (0, "")
    assert "shared is planned: 0 of 6 runs are over" in planned.out
    assert listed(runs, "shared") == []
    killed, *others = [begun("resume", "shared", "--runs", runs) for _ in range(3)]
    while not listed(runs, "shared"):
        time.sleep(0.1)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert [each.wait(SECONDS) for each in others] == [1, 1], "all failed, and each says so"
    verdicts = Counter(run["verdict"] for run in listed(runs, "shared"))
    assert verdicts["failed"] == 6, "each cell has one run that counts"
    assert verdicts["error"] <= 1, "what was killed is an error"
    ended = sandbox(*words, "--runs", runs)
    assert "6 runs: 6 failed" in ended.out


@pytest.mark.slow
def test_a_worker_waits_for_what_is_planned(runs: Path) -> None:
    worker = begun("resume", "--wait", "--runs", runs)
    try:
        for name in ("first", "second"):
            words = ("run", TASK, "--agent", "null", "--experiment", name, "--runs", str(runs))
            assert sandbox(*words, "--jobs", "0").code == 0
            deadline = time.monotonic() + SECONDS
            while [run["verdict"] for run in listed(runs, name)] != ["failed"]:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        assert worker.poll() is None
    finally:
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(SECONDS) == 130


def test_a_worker_outlasts_an_engine_that_is_away(runs: Path) -> None:
    words = ("run", TASK, "--agent", "null", "--experiment", "x", "--jobs", "0")
    assert sandbox(*words, "--runs", runs).code == 0
    worker = subprocess.Popen(
        (SANDBOX, "resume", "--wait", "--runs", str(runs)),
        env={**os.environ, "DOCKER_HOST": NO_ENGINE},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert worker.stderr is not None
    assert b"engine" in worker.stderr.readline().lower()
    assert worker.poll() is None
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(SECONDS) == 130
    worker.stderr.close()


def test_an_experiment_of_a_folder_that_is_gone_is_told(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    words = ("run", TASK, "--agent", "null", "--experiment", "x", "--jobs", "0")
    assert sandbox(*words, "--runs", runs).code == 0
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").rmdir()
    ended = sandbox("resume", "x", "--runs", runs)
    assert (ended.code, "which is not here" in ended.err) == (2, True), ended


@pytest.mark.slow
def test_an_experiment_whose_agent_was_edited_does_not_go_on(runs: Path, tmp_path: Path) -> None:
    script = tmp_path / "agent.yaml"
    script.write_text("- {action: list_files, arguments: {}}\n")
    words = ("run", TASK, "--agent", script, "--experiment", "edited", "--runs", runs)
    assert sandbox(*words).code == 1
    assert sandbox("resume", "edited", "--runs", runs).code == 1
    script.write_text("- {action: git_diff, arguments: {}}\n")
    ended = sandbox("resume", "edited", "--runs", runs)
    assert ended.code == 2, ended
    assert "edited is another one now: its versions of agents are others" in ended.err
    assert len(listed(runs, "edited")) == 1
