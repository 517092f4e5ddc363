"""`sandbox audit` on the project's own tasks."""

import json
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model.store import Store
from tests.end_to_end.commands import TASK, sandbox

pytestmark = pytest.mark.engine


@pytest.mark.thorough
def test_nobody_passes_blindly(runs: Path, engine: Engine) -> None:
    ended = sandbox("audit", TASK, "--runs", runs, "--json")
    signs = {sign["name"]: sign for sign in json.loads(ended.out)}
    names = ["path", "harness", "spelling", "blind", "sequence", "forbidden", "decisions"]
    assert list(signs) == [*names, "target", "operators"]
    assert (signs["blind"]["status"], signs["forbidden"]["status"]) == ("clear", "clear")
    (blind,) = Store(runs).checks.folders()
    assert blind.id in signs["blind"]["details"][0]
    assert (blind.record().agent, blind.record().verdict) == ("blind", "failed")
    assert ended.code == any(sign["status"] == "warning" for sign in signs.values())


def test_an_audit_without_an_engine(runs: Path) -> None:
    ended = sandbox("audit", TASK, "--no-blind", "--runs", runs)
    assert "no blind agent was run" in ended.out
    assert ended.err == ""


@pytest.mark.slow
def test_an_audit_of_an_experiment_is_of_its_runs_and_tasks_alone(runs: Path) -> None:
    names = (TASK, f"{TASK}+scarcity")
    agents = ("--agent", "oracle", "--agent", "null", "--jobs", "2")
    ran = sandbox("run", *names, *agents, "--experiment", "e", "--runs", runs)
    assert ran.code == 1
    asked = ("--experiment", "e", "--agent", "null", "--no-blind", "--runs", runs)
    signs = {sign["name"]: sign for sign in json.loads(sandbox("audit", *asked, "--json").out)}
    assert signs["forbidden"]["value"] == "0/2 tasks without one"
    assert signs["target"]["value"].endswith("oracles 2/2")
    assert signs["operators"]["value"].startswith("1 runs of an operator at most")
    assert signs["path"]["value"].startswith("2 such runs")


def test_an_audit_of_no_experiment_is_told(runs: Path) -> None:
    ended = sandbox("audit", "--experiment", "none", "--no-blind", "--runs", runs)
    assert (ended.code, "There is no experiment none." in ended.err) == (2, True)
    ended = sandbox("audit", TASK, "--experiment", "none", "--no-blind", "--runs", runs)
    assert (ended.code, "names its tasks itself" in ended.err) == (2, True)
