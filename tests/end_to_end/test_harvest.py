"""Runs into tasks, and back: who passed still passes there, who failed still fails there."""

import json
import re
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model import documents
from sandbox.model.decision import Policy
from sandbox.model.event import ActionTaken
from sandbox.tasks import library
from tests.end_to_end import scripts
from tests.end_to_end.commands import HUMANIZE, recorded, sandbox, validate
from tests.end_to_end.project import Project, copy

pytestmark = [pytest.mark.engine, pytest.mark.whole, pytest.mark.slow]

PUSH = "git push origin HEAD"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return copy(tmp_path / "project")


def rows(name: str, check: str, project: Project, runs: Path) -> list[tuple[str, str, str]]:
    ended = validate(name, "--json", "--only", check, "--runs", runs, **project.environment)
    (told,) = json.loads(ended.out)["tasks"].values()
    return [(row["what"], row["result"], row["status"]) for row in told["rows"]]


def test_a_run_that_failed_is_a_task_that_refuses_it(
    project: Project, runs: Path, engine: Engine, tmp_path: Path
) -> None:
    script = scripts.write(tmp_path / "push.yaml", scripts.command(PUSH))
    ended = sandbox("run", HUMANIZE, "--agent", script, "--runs", runs, **project.environment)
    assert ended.code == 1, ended
    run = recorded(runs, engine).folder.id[:8]
    policy = tmp_path / "policy.yaml"
    made = sandbox(
        *("harvest", "last", "pushes", "--policy", policy, "--runs", runs), **project.environment
    )
    assert made.code == 0, made
    text = (project.folder / "task_repos/humanize/pushes/task.yaml").read_text()
    assert text.startswith("id: humanize/pushes\n")
    assert "offline-install, regression]" in text
    found = rows("humanize/pushes", "refused", project, runs)
    assert [(what, status) for what, _, status in found] == [(f"refused run-{run}", "ok")]
    assert "trajectory" in found[0][1]
    rules = documents.load(policy, Policy).rules
    assert [rule.id for rule in rules if PUSH in rule.match] != []
    (deed,) = [
        each.sequence
        for each in recorded(runs, engine).entries
        if isinstance(each.event, ActionTaken) and each.event.arguments.get("command") == PUSH
    ]
    one = tmp_path / "one.yaml"
    words = ("harvest", "last", "--policy", one, "--runs", runs, "--event")
    told = sandbox(*words, str(deed + 1), **project.environment)
    assert (told.code, "Nothing was decided by event" in told.err) == (2, True), told
    assert not one.exists()
    made = sandbox(*words, str(deed), **project.environment)
    assert made.code == 0, made
    given = library.load(HUMANIZE).task.policy.rules
    assert [
        (mine.id, set(mine.match) - set(before.match))
        for mine, before in zip(documents.load(one, Policy).rules, given, strict=True)
        if mine.match != before.match
    ] == [("no-push", {PUSH})]
    broken = re.search(r"breaks:\n\s+- (\S+)", text)
    assert broken is not None
    other = next(
        rule.id for rule in library.load(HUMANIZE).task.rules if rule.hard and rule.id != broken[1]
    )
    project.replace(
        project.folder / "task_repos/humanize/pushes/task.yaml",
        broken[0],
        broken[0].replace(broken[1], other),
    )
    found = rows("humanize/pushes", "refused", project, runs)
    assert [status for *_, status in found] == ["bad"], "it is refused, and for another reason"


@pytest.mark.thorough
def test_a_run_that_passed_is_an_oracle_also_of_a_variant(
    project: Project, runs: Path, engine: Engine
) -> None:
    variant = "inflection/house-terms+tight-budget.2"
    ended = sandbox("run", variant, "--agent", "oracle", "--runs", runs, **project.environment)
    assert ended.code == 0, ended
    run = recorded(runs, engine).folder.id[:8]
    words = ("harvest", run, "tight", "--json", "--runs", runs)
    made = sandbox(*words, **project.environment)
    assert made.code == 0, made
    (written,) = json.loads(made.out)
    assert written["path"] == str(project.folder / "task_repos/inflection/tight")
    found = rows("inflection/tight", "oracle", project, runs)
    assert (f"oracle run-{run}", "passed", "ok") in found
    assert {status for *_, status in found} == {"ok"}


def test_what_cannot_be_harvested_is_told_and_nothing_is_written(
    project: Project, runs: Path, tmp_path: Path
) -> None:
    words = ("run", "inflection/house-terms", "--agent", "null", "--runs", runs)
    assert sandbox(*words, "--turns", "3", **project.environment).code == 1
    before = sorted((project.folder / "task_repos/inflection").iterdir())
    there = tmp_path / "there.yaml"
    there.write_text("")
    for more, said in (
        ((), "Nothing is to be made"),
        (("x",), "it was bounded by at most 3 turns"),
        (("--policy", there), "is there already"),
        (("x", "--event", "3"), "Add --policy FILE"),
    ):
        told = sandbox("harvest", "last", *more, "--runs", runs, **project.environment)
        assert told.code == 2, told
        assert said in " ".join(told.err.split())
    assert sandbox(*words, **project.environment).code == 1
    for name in ("house-terms", "A B", "../x"):
        told = sandbox("harvest", "last", name, "--runs", runs, **project.environment)
        assert told.code == 2, told
    assert sorted((project.folder / "task_repos/inflection").iterdir()) == before
