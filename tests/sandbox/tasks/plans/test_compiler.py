"""What a plan is compiled to, and that it may stand in the plan's place."""

import shutil
from pathlib import Path
from typing import cast

import pytest

from sandbox.cli.verbs.show import derived
from sandbox.model import documents, places, yaml_tree
from sandbox.model.errors import DocumentError
from sandbox.model.graph import Deed, Edge
from sandbox.model.task import Task, TaskFile
from sandbox.rules.checker.check import check
from sandbox.tasks import library
from sandbox.tasks.plans import compiler
from tests.sandbox.plans import plan

NAME = "humanize/file-sizes"


def edges(**way: object) -> dict[str, Edge]:
    made = compiler.graph(plan({}, way))  # type: ignore[arg-type]
    return {edge.id: edge for edge in made.edges}


def test_segments_are_the_oracles_way() -> None:
    made = plan({}, {})
    assert [one.action for one in compiler.oracle(made)] == [
        "read_file",
        "git_diff",
        "apply_patch",
        "run_tests",
        "final_answer",
    ]
    graph = compiler.graph(made)
    assert [(edge.id, edge.origins, edge.to) for edge in graph.edges] == [
        ("look", ("fresh",), "told"),
        ("fix", ("told",), "fixed"),
        ("answer", ("fixed",), "done"),
        ("blindly", ("fresh",), "fixed"),
    ]
    assert [deed.oracle for edge in graph.edges[:3] for deed in edge.does] == [1, 2, None, 3, 4, 5]
    assert graph.edges[1].does[1].changes == ("a.py",)
    assert graph.states["fresh"].says == "nothing is known"
    assert graph.states["done"].right == {"clean": True}
    assert graph.states["lost"].right is False


def test_a_segment_can_be_done_from_elsewhere_too() -> None:
    made = compiler.graph(plan({"also_from": ["lost2"]}, {}, states={"lost2": {}}))
    assert made.edges[1].origins == ("told", "lost2")


def test_a_way_is_a_segment_with_changes() -> None:
    way = edges(
        without=["happened", "test"],
        instead={"patch": {"action": "run_command", "arguments": {"command": "sed"}}},
    )["blindly"]
    assert way.does == (Deed(action="run_command", arguments={"command": "sed"}),)
    assert (way.to, way.milestone, way.sets) == ("fixed", "fixed", {"clean": True})
    assert way.kind == "trap"


def test_what_a_way_says_itself_stands() -> None:
    way = edges(to="told", sets={"clean": False}, milestone="other", kind="retry")["blindly"]
    assert (way.to, way.milestone, way.sets, way.kind) == (
        "told",
        "other",
        {"clean": False},
        "retry",
    )


def test_done_again_the_outcome_is_the_same_but_for_what_is_said() -> None:
    same, other = edges(
        like=None, does=[{"again": "test"}, {"again": "test", "result": {"exit_code": 1}}]
    )["blindly"].does
    assert same == Deed(oracle=4, result={"exit_code": 0})
    assert other == Deed(oracle=4, result={"exit_code": 1})


@pytest.mark.parametrize("name", library.names())
def test_what_is_compiled_may_stand_in_the_plans_place(name: str, tmp_path: Path) -> None:
    """As `sandbox show TASK --compiled` prints it."""
    loaded = library.load(name)
    file = documents.load(loaded.folder / "task.yaml", TaskFile)
    by_hand = tmp_path / "task.yaml"
    by_hand.write_text(derived(loaded.task))
    shown = yaml_tree.compose(by_hand.read_text())[0].data()
    rest = file.model_dump(mode="json", exclude_unset=True, exclude={"plan"})
    by_hand.write_text(yaml_tree.text({**rest, **cast(dict[str, object], shown)}))
    file = documents.load(by_hand, TaskFile)
    assert file.plan is None
    assert compiler.compiled(compiler.inlined(file, loaded.folder)) == loaded.task


def test_a_graph_by_hand_overrides_the_plans() -> None:
    loaded = library.load(NAME)
    file = documents.load(loaded.folder / "task.yaml", TaskFile)
    task = loaded.task
    assert task.graph is not None
    other = task.graph.model_copy(update={"edges": task.graph.edges[:-1]})
    by_hand = compiler.inlined(file, loaded.folder).model_copy(update={"graph": other})
    assert compiler.compiled(by_hand).graph == other


def test_a_rule_and_its_words_are_a_statement() -> None:
    task = library.load(NAME).task
    (told,) = [one for one in task.statements if "rule nothing-pushed" in one.facts]
    assert (told.says, told.stated_in) == ("Do not push.", "prompt")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a task that a test may change."""
    for name in ("images", "task_repos"):
        shutil.copytree(places.project() / name, tmp_path / name)
    monkeypatch.setenv("SANDBOX_PROJECT", str(tmp_path))
    return tmp_path / "task_repos" / NAME


def refused(folder: Path, old: str, new: str) -> str:
    path = folder / "task.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(DocumentError) as caught:
        library.load(NAME)
    return caught.value.message


def line_of(folder: Path, text: str) -> int:
    return (folder / "task.yaml").read_text().split("\n").index(text) + 1


def test_what_no_graph_can_be_is_told_at_the_plan(folder: Path) -> None:
    said = refused(folder, "from: [seen, fixed, described, ", "from: [seen, fixt, described, ")
    assert f"task.yaml:{line_of(folder, 'plan:')}: plan: edge answer-early: " in said
    assert "there is no state fixt" in said


def test_files_that_are_not_there_are_named(folder: Path) -> None:
    (folder / "tests.yaml").unlink()
    said = refused(folder, "oracles/denied-first.yaml", "oracles/denied.yaml")
    assert "tests.recorded: there is no file 'tests.yaml'" in said
    assert "other_oracles.denied-first: there is no file 'oracles/denied.yaml'" in said
    said = refused(folder, "oracle/test_hum_214.py}", "../../../README.md}")
    assert "plan: '../../../README.md' leads out of the task's folder" in said


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("tests.yaml", b"fail_to_pas: [a]\n", "tests.yaml:1: fail_to_pas: unknown key; did you"),
        ("oracles/denied-first.yaml", b"- act: x\n", "denied-first.yaml:1: "),
        ("oracle/test_hum_214.py", b"\xff", "test_hum_214.py:1: is not UTF-8 text"),
    ],
)
def test_what_a_file_holds_is_checked(folder: Path, file: str, content: bytes, said: str) -> None:
    (folder / file).write_bytes(content)
    with pytest.raises(DocumentError) as caught:
        library.load(NAME)
    assert said in caught.value.message


def test_ids_stand_in_one_place(folder: Path) -> None:
    said = refused(
        folder, "  recorded: tests.yaml\n", "  recorded: tests.yaml\n  pass_to_pass: [a]\n"
    )
    assert "test ids stand here and in `recorded`" in said


def test_a_file_without_a_plan_has_an_oracle(folder: Path) -> None:
    text = (folder / "task.yaml").read_text()
    plan_text = text[text.index("plan:\n") : text.index("other_oracles:")]
    assert "nothing solves it: give `plan`, or `oracle`" in refused(folder, plan_text, "")


def test_an_oracle_by_hand_needs_its_graph(folder: Path) -> None:
    said = refused(folder, "plan:\n", "oracle: [{action: git_diff}]\nplan:\n")
    assert "with `plan`, an `oracle` by hand needs a `graph` by hand" in said


@pytest.mark.parametrize("name", library.names())
def test_each_compiled_task_is_sound(name: str) -> None:
    task: Task = library.load(name).task
    assert check(task).sound
