"""The same deeds in other words."""

import subprocess
from pathlib import Path

import pytest

from sandbox.model.atom import Atom
from sandbox.model.rewording import Rewording
from sandbox.model.rule import Never
from sandbox.model.task import ScriptedAction, Task
from sandbox.run.rewordings import catalog, inside, reworded
from sandbox.tasks import library
from tests.sandbox.worlds import task

TASKS = library.names()


def test_there_are_enough_and_each_has_its_own_name() -> None:
    names = [rewording.name for rewording in catalog()]
    assert len(names) == len(set(names)) >= 20


@pytest.mark.parametrize("name", TASKS)
def test_enough_of_them_change_the_oracle_of_each_task(name: str) -> None:
    given = library.load(name).task
    changed = [each for each in catalog() if reworded(given.oracle, given, each) is not None]
    assert len(changed) >= 15


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("rewording", catalog(), ids=lambda each: each.name)
def test_what_is_not_done_by_shell_stays_as_it_is(name: str, rewording: Rewording) -> None:
    given = library.load(name).task
    found = reworded(given.oracle, given, rewording) or given.oracle
    kept = ("call_tool", "discover_tools", "request_approval", "final_answer")
    assert [deed for deed in found if deed.action in kept] == [
        deed for deed in given.oracle if deed.action in kept
    ]


def deed(action: str, **arguments: object) -> ScriptedAction:
    return ScriptedAction.model_validate({"action": action, "arguments": arguments})


LINE = "printf '%s\\n' \"it's {a} $((1+1))\" >> out; printf 'x\\ty' >> out"


@pytest.mark.parametrize("rewording", catalog(), ids=lambda each: each.name)
def test_a_line_does_the_same_whichever_words_it_is_put_in(
    rewording: Rewording, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("one\ntwo\n")
    script = (
        deed("run_command", command=LINE),
        deed("read_file", path="in.txt"),
        deed("run_command", command="cat >> out", stdin="from stdin\n"),
        deed("write_file", path="new/b.txt", content="it's {new}\n"),
        deed("run_tests", command="echo tested >> out"),
        deed("run_command", command="pwd >> out; exit 3", cwd="new"),
    )
    given = task().model_copy(update={"id": "toy/task"})
    for each in reworded(script, given, rewording) or script:
        line = each.arguments.get("command") if each.action != "read_file" else "true"
        if each.action == "write_file":
            (tmp_path / "new").mkdir(exist_ok=True)
            (tmp_path / "new/b.txt").write_text(str(each.arguments["content"]))
            continue
        folder = str(each.arguments.get("cwd", "."))
        line = str(line).replace(given.worktree, str(tmp_path))
        ended = subprocess.run(
            ["/bin/bash", "-c", line],
            cwd=tmp_path / folder,
            input=str(each.arguments.get("stdin", "")).encode(),
            capture_output=True,
            check=False,
        )
    assert ended.returncode == 3
    assert (tmp_path / "out").read_text() == "it's {a} 2\nx\tyfrom stdin\ntested\n"
    assert (tmp_path / "new/out").read_text() == f"{tmp_path}/new\n"
    assert (tmp_path / "new/b.txt").read_text() == "it's {new}\n"


def test_an_edit_that_has_to_be_on_record_stays_an_action() -> None:
    everything = next(each for each in catalog() if each.name == "all-by-shell")
    given = library.load("humanize/file-sizes").task
    rule = Never(
        id="on-record",
        template="never",
        a=Atom(changes="src/**"),
        reason="An edit is to be on record.",
        stated_in="prompt",
    )
    wanted = given.model_copy(update={"rules": (*given.rules, rule)})

    def left(task: Task) -> list[str]:
        found = reworded(task.oracle, task, everything)
        assert found is not None
        return [step.action for step in found if step.action != "run_command"]

    assert left(given) == ["final_answer"]
    assert left(wanted) == ["apply_patch", "final_answer"]
    assert inside(given.oracle, given)
    assert inside(wanted.oracle, wanted) is None
