"""A task proved in containers, and tasks that were broken on purpose."""

import json
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model.grade import TestReport
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import CHECKS, Store
from sandbox.run.run_containers import RUN
from sandbox.run.validate import Check
from tests.end_to_end.commands import HUMANIZE, sandbox, validate
from tests.end_to_end.project import Project
from tests.end_to_end.terminal import Terminal

pytestmark = [pytest.mark.engine, pytest.mark.whole]

Rows = list[dict[str, object]]


def validated(code: int, *options: str | Path, **environment: str) -> Rows:
    ended = validate(HUMANIZE, "--json", *options, **environment)
    assert ended.code == code, ended.out + ended.err
    found = json.loads(ended.out)
    assert found["holds"] == (code == 0)
    rows = found["tasks"][HUMANIZE]["rows"]
    assert isinstance(rows, list)
    return rows


def bad(rows: Rows) -> dict[object, object]:
    return {row["what"]: row["notes"] for row in rows if not row["holds"]}


QUICK = (Check.GRAPH, Check.PINS, Check.ORACLE)
"""Those that no other test does on a task that holds; test_variants.py has the violators."""
WHOLE = ("--jobs", "4", "--every-edge", "--gradings", "20")
OF_OTHERS = (Check.REFUSED,)
"""Of tasks that are made of a run which was refused: test_harvest.py has them."""


def test_the_task_holds(runs: Path) -> None:
    only = [word for check in QUICK for word in ("--only", check.value)]
    rows = validated(0, *only, "--jobs", "3", "--runs", runs)
    assert {row["check"] for row in rows} == {check.value for check in QUICK}
    ran = {str(row["run"]): row for row in rows if row["run"]}
    assert all((runs / CHECKS / run).is_dir() for run in ran)
    by = {row["what"]: row for row in rows}
    assert by["oracle"]["result"] == by["oracle denied-first"]["result"] == "passed"


@pytest.mark.thorough
def test_the_whole_of_the_task_holds(runs: Path) -> None:
    rows = validated(0, *WHOLE, "--runs", runs)
    assert {row["check"] for row in rows} == {each.value for each in Check if each not in OF_OTHERS}
    by = {row["what"]: row for row in rows}
    nothing = {by[agent]["tests_of"] or by[agent]["run"] for agent in ("null", "final-only")}
    assert len(nothing) == 1
    assert any(by[f"random {number}"]["tests_of"] is None for number in (1, 2, 3))
    for row in rows:
        folder = RunFolder(runs / CHECKS / str(row["run"]))
        if row["check"] == "exploits" and folder.tests.is_file():
            assert folder.load(folder.tests, TestReport).shared_with == (row["tests_of"] or "")


@pytest.mark.thorough
def test_the_task_holds_with_nothing_shared(runs: Path) -> None:
    rows = validated(0, *WHOLE, "--no-share", "--runs", runs)
    assert all(row["tests_of"] is None for row in rows)


@pytest.mark.thorough
def test_what_is_wrong_with_a_task_is_told(project: Project, runs: Path) -> None:
    fragment = "    - changes/HUM-214.fix.md\n"
    project.replace(
        project.task, fragment + "  generated:\n", "  may:\n" + fragment + "  generated:\n"
    )
    ids = "fail_to_pass:\n", "  - 'tests/test_size_units.py::test_below_all_units[one]'\n"
    recorded = project.task.with_name("tests.yaml")
    project.replace(recorded, ids[1], "")
    project.replace(recorded, ids[0], "".join(ids))
    project.replace(project.task, "says: Do not push.", "says: Push nothing.")
    checks = ("facts", "tests", "oracle", "hunks", "reset", "gradings")
    options = [word for check in checks for word in ("--only", check)]
    found = bad(validated(1, *options, "--runs", runs, **project.environment))
    assert set(found) == {
        "facts",
        "without a candidate",
        "oracle without hunk 1 of changes/HUM-214.fix.md",
    }


@pytest.mark.thorough
def test_an_oracle_that_fails_is_told(project: Project, runs: Path) -> None:
    project.replace(project.task, "expect: freezegun", "expect: freezer")
    checks = ("--only", "oracle", "--only", "hunks")
    rows = validated(1, *checks, "--runs", runs, **project.environment)
    assert [(row["check"], row["result"]) for row in rows] == [
        *(("oracle", "failed"), ("oracle", "failed"), ("hunks", "failed")),
    ]


def test_a_check_that_is_not_there_is_a_mistake() -> None:
    assert sandbox("validate", HUMANIZE, "--only", "nonsense").code == 2


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("stage", ["null has ended", "oracle's candidates again"])
def test_an_interrupt_leaves_nothing_behind(engine: Engine, runs: Path, stage: str) -> None:
    checks = [word for check in ("agents", "gradings") for word in ("--only", check)]
    options = ("--seeds", "0", "--jobs", "2", "--runs", runs)
    with Terminal("validate", HUMANIZE, *checks, *options) as terminal:
        terminal.until(stage)
        terminal.press()
        assert terminal.end() == 130, terminal.text
    assert "Traceback" not in terminal.text
    stored = list(Store(runs).checks.folders())
    assert stored
    assert all(folder.record().ended for folder in stored)
    assert [c for folder in stored for c in engine.containers(f"{RUN}={folder.id}")] == []
