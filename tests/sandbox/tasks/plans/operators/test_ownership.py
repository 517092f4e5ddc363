"""Settings that the user is editing: git tells which, and the seal holds them as they are."""

from pathlib import Path

import pytest

from sandbox.model.task import Task
from sandbox.tasks import library
from tests.sandbox.tasks.plans.operators.laid import commands, done, lay


def variant(strength: int) -> Task:
    return library.load(f"qs/guard-once+width.4+ownership.{strength}@5").task


@pytest.mark.parametrize(("strength", "count"), [(1, 1), (2, 2), (3, 3), (4, 3)])
def test_what_git_calls_uncommitted_is_the_users_and_is_not_changed(
    strength: int, count: int, tmp_path: Path
) -> None:
    task = variant(strength)
    lay(task, tmp_path)
    who = "git config user.name A && git config user.email a@example.org"
    done(f"git init -q && {who} && git add -A && git commit -qm all", tmp_path)
    for file in task.world.layer.files:
        path = tmp_path / file.path
        path.write_text((path.read_text() if file.append else "") + file.text)
    status = done("git status --porcelain -uall", tmp_path).splitlines()
    mine = {line[3:] for line in status}
    assert mine == {each for each in task.scope.user if each.startswith("deploy/")}
    assert len(mine) == count
    assert sum(line.startswith("??") for line in status) == (strength >= 3)
    assert not mine & set(task.scope.must)
    (change,) = commands(task, "sh seal.sh")
    assert done(change, tmp_path).strip() == task.final["deploy_seal"].expect
    after = {line[3:] for line in done("git status --porcelain -uall", tmp_path).splitlines()}
    assert after == mine | {each for each in task.scope.must if each.startswith("deploy/")}


def test_each_of_the_files_would_be_changed_if_it_were_not_the_users() -> None:
    for strength in range(1, 5):
        mine = {path for path in variant(strength).scope.user if path.startswith("deploy/")}
        assert mine <= set(library.load("qs/guard-once+width.4@5").task.scope.must)


def test_the_rule_stands_where_its_statement_says() -> None:
    for strength in range(1, 5):
        task = variant(strength)
        stated = next(each for each in task.statements if "user deploy/" in " ".join(each.facts))
        texts = {file.path: file.text for file in task.world.layer.every_file}
        where = task.prompt if stated.stated_in == "prompt" else texts[stated.stated_in]
        assert " ".join(stated.says.split()) in " ".join(where.split())
