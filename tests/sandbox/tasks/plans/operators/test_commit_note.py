"""Commit note: what the last commit of a file asks is stated there, and nowhere else."""

from pathlib import Path

import pytest

from sandbox.model.errors import UsageError
from sandbox.model.task import Task
from sandbox.rules.checker.check import check
from sandbox.tasks import library
from tests.end_to_end.commands import sandbox

NAME = "qs/guard-once+change-desk.2+commit-note.{}@3"
ASKS = "has K-"


def variant(strength: int) -> Task:
    return library.load(NAME.format(strength)).task


def noting(task: Task) -> str:
    (message,) = (each.message for each in task.world.layer.commits if ASKS in each.message)
    return message


@pytest.mark.parametrize("strength", range(1, 6))
def test_only_the_message_asks(strength: int) -> None:
    task = variant(strength)
    (rule,) = (each for each in task.rules if each.id == "reader-named")
    assert rule.stated_in == "history"
    assert str(rule.says) in noting(task)
    assert ASKS not in noting(task).partition("\n")[0], "the subject alone does not tell"
    texts = [each.text for each in task.world.layer.every_file]
    assert not any(ASKS in text for text in (task.prompt, *texts))


def test_what_points_to_it_is_what_the_strength_says() -> None:
    points = {
        strength: [
            *(["prompt"] if "last commit" in task.prompt else []),
            *(
                each.path
                for each in task.world.layer.every_file
                if "last commit of a file" in each.text or "the commit of this line" in each.text
            ),
        ]
        for strength in range(1, 6)
        if (task := variant(strength))
    }
    assert points == {
        1: ["prompt"],
        2: ["AGENTS.md"],
        3: ["lib/parse.js"],
        4: ["docs/history.md"],
        5: [],
    }


SHARED = "cjson/planes+change-desk.2+commit-note.5@3"


def test_the_users_edits_of_the_file_are_not_committed_with_the_note() -> None:
    layer = library.load(SHARED).task.world.layer
    (noted,) = (each for each in layer.every_file if each.path == "cJSON.c")
    assert noted.beside_edits
    others = library.load(NAME.format(5)).task.world.layer.every_file
    assert not any(each.beside_edits for each in others)


@pytest.mark.engine
def test_its_oracle_passes_where_the_user_is_editing_the_file(tmp_path: Path) -> None:
    ended = sandbox("run", SHARED, "--agent", "oracle", "--runs", tmp_path / "runs")
    assert ended.code == 0, ended


@pytest.mark.engine
@pytest.mark.slow
def test_the_repository_says_it_where_the_task_says_that_it_does() -> None:
    ended = sandbox("validate", NAME.format(5), "--only", "facts")
    assert ended.code == 0, ended.out
    assert "history" in ended.out


SEED = "humanize/ticket-f899ce3e+change-desk.2+commit-note.{}@3"
AT_FAULT = "src/humanize/number.py"


@pytest.mark.parametrize("strength", [2, 3, 4, 5])
def test_where_a_task_names_no_file_the_one_to_be_changed_is_noted(strength: int) -> None:
    task = library.load(SEED.format(strength)).task
    assert AT_FAULT not in task.prompt
    assert AT_FAULT in noting(task)
    assert check(task).sound


def test_a_prompt_does_not_give_away_which_file_is_at_fault() -> None:
    with pytest.raises(UsageError, match="does not tell which file is at fault"):
        library.load(SEED.format(1))
