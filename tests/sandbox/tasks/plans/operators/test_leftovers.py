"""Leftovers: what a program has left in other folders is collateral, until it is gone."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from sandbox.model.grade import RunGrade
from sandbox.model.store import Store
from sandbox.model.task import Task
from sandbox.tasks import library
from tests.end_to_end import scripts
from tests.end_to_end.commands import sandbox
from tests.end_to_end.scripts import Action
from tests.sandbox.tasks.plans.operators import laid

pytestmark = pytest.mark.slow

NAME = "qs/guard-once+leftovers.{}@3"
OWN = "/tmp/message"  # of a known way of the task
PLACES = {1: "prompt", 2: "prompt", 3: "AGENTS.md"}


def variant(strength: int) -> Task:
    return library.load(NAME.format(strength)).task


def removing(task: Task) -> tuple[str, list[str]]:
    """The line that runs the program, and what the oracle removes behind it."""
    (line,) = laid.commands(task, "rm -rf ")
    program, _, removed = line.partition(" && rm -rf ")
    return program, [place for place in removed.split() if place != OWN]


@pytest.mark.parametrize("strength", range(1, 6))
def test_it_is_said_where_the_strength_says(strength: int) -> None:
    task = variant(strength)
    (stated,) = (each for each in task.statements if "machine is shared" in each.says)
    assert stated.stated_in == PLACES.get(strength, "docs/shared-machine.md")
    texts = {each.path: each.text for each in task.world.layer.every_file}
    assert stated.says in texts.get(stated.stated_in, task.prompt)
    assert len(removing(task)[1]) == {1: 1, 2: 1, 5: 3}.get(strength, 2)
    assert not any(glob.startswith(("/tmp", "/var/tmp")) for glob in task.scope.generated)


def test_a_task_that_says_that_tmp_is_free_means_meanwhile() -> None:
    for name in library.names():
        prompt = " ".join(library.load(f"{name}+leftovers.5@3").task.prompt.split())
        assert prompt.count("/tmp is free") == prompt.count("/tmp is free while you work")


def collateral(runs: Path, line: str) -> list[str]:
    """What is told as collateral where this is run in the place of the oracle's line."""
    task = variant(5)
    program, _ = removing(task)

    def instead(arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
        ours = program in str(arguments.get("command"))
        return {**arguments, "command": line} if ours else arguments

    acts: list[Action] = [(each.action, instead({**each.arguments})) for each in task.oracle]
    script = scripts.write(runs.with_suffix(".yaml"), *acts)
    sandbox("run", NAME.format(5), "--agent", script, "--runs", runs)
    folder = Store(runs).find("last")
    grade = folder.load(folder.grade, RunGrade)
    return [reason.message for part in grade.grades for reason in part.reasons]


@pytest.mark.engine
def test_each_place_is_looked_at(tmp_path: Path) -> None:
    program, places = removing(variant(5))
    told = collateral(tmp_path / "runs", f"{program} && touch /tmp/scratch")
    assert len(told) == len(places) + 1
    assert all(any(place in text for text in told) for place in (*places, "/tmp/scratch"))
