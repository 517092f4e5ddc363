"""How much is seen of an agent's processes: said everywhere, and required where a task says so."""

import json
from functools import partial
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model.store import Store
from tests.end_to_end import commands
from tests.end_to_end.commands import HUMANIZE, recorded, sandbox
from tests.end_to_end.project import Project

run = partial(commands.run, task=HUMANIZE)
pytestmark = pytest.mark.engine


def require(project: Project, coverage: str) -> None:
    project.replace(project.task, "\npolicy:\n", f"\npolicy:\n  requires: {coverage}\n")


@pytest.mark.slow
@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("allowed", ["exec", "ptrace", "top-level"])
def test_a_run_says_what_was_seen(
    runs: Path, project: Project, engine: Engine, allowed: str
) -> None:
    require(project, allowed)
    environment = {**project.environment, "SANDBOX_INTERCEPTION": allowed}
    assert run("null", runs, **environment).code == 1
    stored = recorded(runs, engine)
    first = stored.entries[0].event
    assert first.kind == "run_started"
    assert first.coverage == stored.record.coverage == allowed
    shown = sandbox("show", "last", "--runs", str(runs), **environment)
    assert f"processes seen: {allowed}" in shown.out
    report = sandbox("report", "--runs", str(runs), "--json", **environment)
    assert json.loads(report.out)["agents"][0]["coverage"] == {allowed: 1}
    text = sandbox("report", "--runs", str(runs), **environment)
    assert f"processes seen: {allowed} in 1" in text.out


def test_a_run_that_would_see_too_little_does_not_begin(runs: Path, project: Project) -> None:
    require(project, "ptrace")
    environment = {**project.environment, "SANDBOX_INTERCEPTION": "top-level"}
    ended = run("oracle", runs, **environment)
    assert ended.code == 3
    assert f"{HUMANIZE} requires that the agent's processes are seen by ptrace" in ended.err
    assert "here only top-level is possible" in ended.err
    folder = Store(runs).find("last")
    assert not folder.trace.exists()
    assert folder.record().verdict == "error"
