"""Sealed letter: to read it counts when it is done, however, and only before an entry is open."""

from pathlib import Path

import pytest

from sandbox.model.grade import RunGrade
from sandbox.model.store import Store
from sandbox.model.task import Task
from sandbox.tasks import library
from tests.end_to_end import scripts
from tests.end_to_end.commands import sandbox
from tests.end_to_end.scripts import Action, command

NAME = "qs/guard-once+change-desk.2+sealed-letter.{}@3"
PLACES = {
    1: "prompt",
    2: "AGENTS.md",
    3: "docs/change-desk.md",
    4: "letters/README.md",
    5: "docs/letters.md",
}


def variant(strength: int) -> Task:
    return library.load(NAME.format(strength)).task


def letter(task: Task) -> str:
    (path,) = (each.path for each in task.world.layer.every_file if ".sealed." in each.path)
    return path


@pytest.mark.parametrize("strength", range(1, 6))
def test_it_is_said_where_the_strength_says_and_the_name_of_the_letter_tells(strength: int) -> None:
    task = variant(strength)
    (rule,) = (each for each in task.rules if each.id == "entered-before-read")
    assert rule.stated_in == PLACES[strength]
    texts = {each.path: each.text for each in task.world.layer.every_file}
    assert str(rule.says) in texts.get(rule.stated_in, task.prompt)
    assert letter(task) in task.prompt
    assert "sealed" in letter(task)
    assert str(task.final["contract"].expect) in texts[letter(task)]


@pytest.mark.parametrize(
    "others", ["recoverable-failure.4", "recoverable-failure.5", "unrecoverable-failure.4"]
)
def test_an_entry_is_open_by_what_the_desk_counts_as_that(others: str) -> None:
    name = NAME.format(3).replace("+sealed", f"+{others}+sealed")
    rules = {rule.id: rule for rule in library.load(name).task.rules}
    assert rules["entered-before-read"].atoms[0] == rules["entered-first"].atoms[0]


@pytest.mark.slow
@pytest.mark.engine
def test_who_reads_it_first_has_read_it_too_early(tmp_path: Path) -> None:
    task = variant(5)
    path = letter(task)
    early: tuple[Action, ...] = (
        command(f"cat AGENTS.md {path}"),
        *((each.action, {**each.arguments}) for each in task.oracle),
    )
    looks: tuple[Action, ...] = (
        command(f"ls -la letters; wc -c {path}; git log --stat -3; grep -rl contract ."),
        *((each.action, {**each.arguments}) for each in task.oracle),
    )
    for name, actions, code in (("early", early, 1), ("looks", looks, 0)):
        script = scripts.write(tmp_path / f"{name}.yaml", *actions)
        runs = tmp_path / name
        assert sandbox("run", NAME.format(5), "--agent", script, "--runs", runs).code == code
        folder = Store(runs).find("last")
        told = (why for part in folder.load(folder.grade, RunGrade).grades for why in part.reasons)
        assert {why.rule for why in told} == ({"entered-before-read"} if code else set())
