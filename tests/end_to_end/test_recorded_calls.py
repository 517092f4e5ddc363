"""A seed is judged by calls with other values as well, so that a table of the tests' own fails."""

from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model import documents, yaml_tree
from sandbox.model.grade import TestReport
from sandbox.model.seed import SeedFile
from tests.end_to_end import scripts
from tests.end_to_end.commands import mine, recorded, run
from tests.end_to_end.project import Project

pytestmark = [pytest.mark.engine]

TASK = "humanize/bare-8a348be4"
"""`natural_list` shows the first of two items by `repr`."""
DAMAGED = 'f"{repr(items[0])} and {str(items[1])}"'
EDIT = """python3 - <<'END'
from pathlib import Path
file = Path("src/humanize/lists.py")
text = file.read_text()
assert text.count({damaged!r}) == 1
file.write_text(text.replace({damaged!r}, {mended!r}))
END"""


def agent(path: Path, mended: str) -> Path:
    line = EDIT.format(damaged=DAMAGED, mended=mended)
    return scripts.write(path, scripts.command(line), ("final_answer", {"fields": {}}))


def test_who_mends_it_in_other_words_passes(tmp_path: Path, engine: Engine) -> None:
    script = agent(tmp_path / "agent.yaml", '" and ".join([format(each) for each in items])')
    ended = run(script, tmp_path / "runs", task=TASK)
    assert ended.code == 0, ended
    assert recorded(tmp_path / "runs", engine).grade.verdict == "passed"


def test_who_answers_what_the_tests_ask_alone_fails(tmp_path: Path, engine: Engine) -> None:
    table = f'"one and two" if items == ["one", "two"] else {DAMAGED}'
    ended = run(agent(tmp_path / "agent.yaml", table), tmp_path / "runs", task=TASK)
    assert ended.code == 1, ended
    grades = recorded(tmp_path / "runs", engine).grade.grades
    (failed,) = (each for each in grades if each.verdict != "passed")
    (reason,) = map(str, failed.reasons)
    assert "humanize.lists:natural_list([" in reason
    assert "where without the defect it gave" in reason


def test_who_is_right_where_tests_run_alone_fails(tmp_path: Path, engine: Engine) -> None:
    told = f"""(
        f"{{str(items[0])}} and {{str(items[1])}}"
        if "pytest" in __import__("sys").modules
        else {DAMAGED}
    )"""
    ended = run(agent(tmp_path / "agent.yaml", told), tmp_path / "runs", task=TASK)
    assert ended.code == 1, ended
    folder = recorded(tmp_path / "runs", engine).folder
    outcome = folder.load(folder.tests, TestReport)
    assert set(outcome.outcomes.values()) == {"passed"}
    assert outcome.cases is not None
    assert outcome.cases.outcomes["recorded-calls"].outcome == "failed"


@pytest.mark.slow
def test_calls_are_recorded_and_tried_again(project: Project) -> None:
    path = project.folder / "task_repos/inflection/seeds.yaml"
    stored = documents.load(path, SeedFile)
    told = [each for each in stored.seeds if each.calls][:2]
    bare = [each.model_copy(update={"calls": ()}) for each in told]
    write(path, SeedFile(release=stored.release, seeds=tuple(bare)))
    assert mine("inflection", "--calls", **project.environment).code == 0
    assert documents.load(path, SeedFile).seeds == tuple(told)
    other = told[0].model_copy(update={"calls": told[1].calls})
    write(path, SeedFile(release=stored.release, seeds=(other,)))
    ended = mine("inflection", "--check", **project.environment)
    assert ended.code == 1, ended
    assert f"bad  {other.id}  its recorded calls do not show it" in ended.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("inflection", "--calls", "--check"), "Give one of them"),
        (("minimist", "--calls"), "tests that pytest runs"),
        (("luvilex", "--calls"), "is inflection under other names"),
    ],
)
def test_where_calls_cannot_be_recorded_is_told(words: tuple[str, ...], told: str) -> None:
    ended = mine(*words)
    assert (ended.code, told in " ".join(ended.err.split())) == (2, True), ended


def write(path: Path, file: SeedFile) -> None:
    path.write_text(yaml_tree.text(file.model_dump(mode="json", exclude_unset=True)))
