"""`sandbox harden` with agents that the project has: what is found, and that it goes on."""

import json
from pathlib import Path

import pytest

from sandbox.model.store import Store
from sandbox.tasks.suites import suite
from tests.end_to_end.commands import Ended, sandbox

pytestmark = [pytest.mark.engine, pytest.mark.whole]

TASK = "qs/guard-once"


def harden(runs: Path, agent: Path, *more: str | Path) -> Ended:
    bounds = ("--budget", "2", "--population", "2", "--jobs", "2")
    return sandbox("harden", TASK, "--agent", agent, *bounds, "--runs", runs, *more)


@pytest.mark.slow
def test_what_agents_fail_at_is_found_and_pinned_and_the_same_command_runs_nothing_again(
    runs: Path, tmp_path: Path
) -> None:
    script = json.loads(sandbox("show", TASK, "--json").out)["oracle"]
    agent, out = tmp_path / "base.yaml", tmp_path / "hard.yaml"
    agent.write_text(json.dumps(script))
    ended = harden(runs, agent, "--json", "--out", out)
    assert ended.code == 0, ended
    found = json.loads(ended.out)
    assert len(found) == 2
    assert all(each["solvable"] for each in found)
    passed = {each["variant"]: each["passed"][str(agent)] for each in found}
    assert passed[TASK] == 1
    failed = {variant for variant, count in passed.items() if not count}
    assert failed
    pinned = suite.read(out)
    assert {pin.variant for pin in pinned.variants} == failed
    assert list(suite.differing(pinned)) == []
    before = {folder.id for folder in Store(runs).folders()}
    assert len(before) == 4
    again = harden(runs, agent, "--json", "--out", out)
    assert json.loads(again.out) == found
    assert {folder.id for folder in Store(runs).folders()} == before
    told = harden(runs, agent).out
    assert "hardness  apart  passed" in told
    assert f"{agent} 0/1  {TASK}+" in told


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--agent", "oracle"), "The oracle takes part by itself"),
        (("--agent", "null", "--name", "oracle"), "The oracle takes part by itself"),
        (("--agent", "null", "--trials", "9", "--budget", "8"), "less than one variant takes"),
        ((), "Nobody is named who is to act"),
    ],
)
def test_what_cannot_be_searched_is_told(runs: Path, given: tuple[str, ...], said: str) -> None:
    ended = sandbox("harden", TASK, *given, "--runs", runs)
    assert ended.code == 2
    assert said in ended.err


@pytest.mark.thorough
def test_an_agent_that_crashes_makes_nothing_hard(runs: Path) -> None:
    bounds = ("--budget", "4", "--population", "2", "--runs", runs)
    ended = sandbox("harden", TASK, "--agent", "exit 3", *bounds)
    assert ended.code == 1
    assert "not judged, as a run of each crashed or met an error: 2" in ended.out
    assert f"  {TASK}" not in ended.out.partition("hardness")[2]
