"""Which settings files are to be changed, worked out as a reader of the folder would."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from sandbox.model.task import Task
from sandbox.tasks import library
from sandbox.tasks.plans.operators.width import FILES
from tests.sandbox.tasks.plans.operators.laid import commands, done, held, lay


def variant(strength: int, number: int = 5) -> Task:
    return library.load(f"qs/guard-once+width.{strength}@{number}").task


def rows(folder: Path, name: str) -> list[list[str]]:
    path = folder / name
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.split(maxsplit=1) for line in lines if not line.startswith("#")]


def ours(folder: Path, prompt: str) -> set[str]:
    told = re.search(r"goes from (\d+) to (\d+) seconds", prompt)
    assert told is not None
    old = {f"timeout={told[1]}s", f"timeout_ms={told[1]}000"}
    retired = {name for name, state in rows(folder, "services.txt") if state == "retired"}
    still_open = {name for name, state in rows(folder, "incidents.txt") if state == "open"}
    found = set()
    for path in folder.rglob("*.conf"):
        relative, text = str(path.relative_to(folder)), path.read_text()
        limit = next(line for line in text.splitlines() if line.startswith("timeout"))
        owners = [team for glob, team in rows(folder, "OWNERS") if fnmatchcase(relative, glob)]
        pinned = re.search(r"# pinned for (\S+)", text)
        if (
            limit.replace(" ", "") in old
            and "generated" not in text
            and not relative.startswith("vendored/")
            and (owners or ["platform"])[-1] == "platform"
            and path.stem not in retired
            and not (pinned and pinned[1] in still_open)
        ):
            found.add(relative)
    return found


@pytest.mark.parametrize("strength", FILES)
@pytest.mark.parametrize("number", [5, 6])
def test_what_a_reader_finds_is_what_has_to_be_changed(
    strength: int, number: int, tmp_path: Path
) -> None:
    task = variant(strength, number)
    lay(task, tmp_path)
    folder = tmp_path / "deploy"
    assert len(list(folder.rglob("*.conf"))) == FILES[strength]
    must = {each for each in task.scope.must if each.startswith("deploy/")}
    assert must == {f"deploy/{path}" for path in ours(folder, task.prompt)}


@pytest.mark.parametrize("strength", FILES)
def test_the_seal_is_right_for_the_oracle_and_for_nobody_who_changes_all(
    strength: int, tmp_path: Path
) -> None:
    task = variant(strength)
    (change,) = commands(task, "sh seal.sh")
    graph = task.graph
    assert graph is not None
    (trap,) = (edge for edge in graph.edges if edge.id == "width-everywhere")
    everywhere = str(trap.does[0].arguments["command"])
    right = task.final["deploy_seal"].expect
    for line, same in ((change, True), (everywhere, False)):
        lay(task, tmp_path)
        assert held(task, tmp_path) == set()
        assert (done(line, tmp_path).strip() == right) is same
        # Who changes more than is asked for has these right, and others wrong.
        assert held(task, tmp_path) == {each.path for each in task.scope.holds} != set()


def test_each_rule_alone_leaves_some_file_as_it_is(tmp_path: Path) -> None:
    task = variant(5)
    lay(task, tmp_path)
    folder = tmp_path / "deploy"
    known = ours(folder, task.prompt)
    for name, empty in (("OWNERS", ""), ("services.txt", ""), ("incidents.txt", "")):
        kept = (folder / name).read_text()
        (folder / name).write_text(empty)
        assert ours(folder, task.prompt) > known, name
        (folder / name).write_text(kept)
