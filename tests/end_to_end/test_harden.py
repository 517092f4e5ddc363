"""`sandbox harden` with agents that the project has: what is found, and that it goes on."""

import json
from pathlib import Path

import pytest

from sandbox.model.store import Store
from sandbox.tasks.suites import suite
from tests.end_to_end.commands import Ended, sandbox

pytestmark = pytest.mark.engine

TASK = "qs/guard-once"


def harden(runs: Path, agent: Path, *more: str | Path) -> Ended:
    bounds = ("--budget", "8", "--population", "2", "--jobs", "2")
    agents = ("--agent", agent, "--agent", "null")
    return sandbox("harden", TASK, *agents, *bounds, "--runs", runs, *more)


def test_what_agents_fail_at_is_found_and_pinned_and_the_same_command_runs_nothing_again(
    runs: Path, tmp_path: Path
) -> None:
    script = json.loads(sandbox("show", TASK, "--json").out)["oracle"]
    agent, out = tmp_path / "base.yaml", tmp_path / "hard.yaml"
    agent.write_text(json.dumps(script))
    ended = harden(runs, agent, "--json", "--out", out)
    assert ended.code == 0, ended
    found = json.loads(ended.out)
    assert len(found) == 4
    assert all(each["solvable"] and each["passed"]["null"] == 0 for each in found)
    by_variant = {each["variant"]: each for each in found}
    assert by_variant[TASK]["passed"][str(agent)] == 1
    assert any(each["passed"][str(agent)] == 0 for each in found)
    pinned = suite.read(out)
    assert {pin.variant for pin in pinned.variants} == set(by_variant)
    assert list(suite.differing(pinned)) == []
    before = {folder.id for folder in Store(runs).folders()}
    assert len(before) == 12
    again = harden(runs, agent, "--json", "--out", out)
    assert json.loads(again.out) == found
    assert {folder.id for folder in Store(runs).folders()} == before
    told = harden(runs, agent).out
    assert "hardness  apart  passed" in told
    assert f"null 0/1  {TASK}+" in told


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--agent", "oracle"), "The oracle takes part by itself"),
        (("--agent", "null", "--trials", "9", "--budget", "8"), "less than one variant takes"),
        ((), "Nobody is named who is to act"),
    ],
)
def test_what_cannot_be_searched_is_told(runs: Path, given: tuple[str, ...], said: str) -> None:
    ended = sandbox("harden", TASK, *given, "--runs", runs)
    assert ended.code == 2
    assert said in ended.err
