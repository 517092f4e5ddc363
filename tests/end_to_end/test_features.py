"""What a specification asks for is graded clause by clause."""

from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.tasks import library
from sandbox.tasks.features.drawn_clauses import drawn
from sandbox.tasks.features.source import source
from tests.end_to_end import scripts
from tests.end_to_end.commands import recorded, run

pytestmark = pytest.mark.engine

NAME, COUNT, NUMBER = "humanize/clauses-20-1", 20, 1


def without(clause: int) -> str:
    """A function that does all but what one clause says."""
    text = source(drawn(COUNT, NUMBER), leaving_out=True)
    return text.replace("left_out=0", f"left_out={clause}")


@pytest.mark.parametrize("clause", [1, 8, 20])
def test_who_leaves_out_a_clause_fails_for_its_case(
    clause: int, tmp_path: Path, engine: Engine
) -> None:
    actions = []
    for each in library.load(NAME).task.oracle:
        told = each.model_dump(mode="json", include={"action", "arguments"})
        if told["action"] == "apply_patch":
            line = f"cat > src/humanize/charges.py <<'END'\n{without(clause)}END"
            told = {"action": "run_command", "arguments": {"command": line}}
        actions.append((told["action"], told["arguments"]))
    agent = scripts.write(tmp_path / "agent.yaml", *actions)
    assert run(agent, tmp_path / "runs", task=NAME).code == 1
    grades = recorded(tmp_path / "runs", engine).grade.grades
    failed = {each.grader: each.reasons for each in grades if each.verdict != "passed"}
    assert failed.keys() == {"tests"}
    assert any(f"The case clause-{clause}, which" in str(each) for each in failed["tests"])


def test_who_writes_all_of_it_passes(tmp_path: Path, engine: Engine) -> None:
    ended = run("oracle", tmp_path / "runs", task=NAME)
    assert ended.code == 0, ended
    assert recorded(tmp_path / "runs", engine).grade.verdict == "passed"
