import json
import os
import shutil
from pathlib import Path

import pytest
from pydantic import ValidationError

from sandbox.model import places
from sandbox.model.errors import DocumentError, UsageError
from sandbox.model.final import FinalField
from sandbox.model.task_tests import Tests
from sandbox.tasks import library

NAME = "humanize/file-sizes"
ROOT = Path(__file__).parents[3]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project's data that a test may change."""
    for name in ("images", "task_repos"):
        shutil.copytree(places.project() / name, tmp_path / name)
    monkeypatch.setenv("SANDBOX_PROJECT", str(tmp_path))
    return tmp_path


def edit(project: Path, old: str, new: str) -> None:
    path = project / "task_repos" / NAME / "task.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_every_task_of_the_project_loads() -> None:
    names = library.names()
    assert NAME in names
    assert names == sorted(names)
    for name in names:
        loaded = library.load(name)
        assert loaded.task.id == name
        assert (loaded.folder / "task.yaml").is_file()


@pytest.mark.parametrize("wrong", ["humanize/file-size", "file-sizes", "humanise/filesizes"])
def test_unknown_task_names_the_nearest(wrong: str) -> None:
    with pytest.raises(UsageError) as caught:
        library.load(wrong)
    assert wrong in caught.value.message
    assert caught.value.next_step == f"Did you mean {NAME}?"


def test_unknown_task_without_a_near_one_names_the_verb() -> None:
    with pytest.raises(UsageError, match="sandbox tasks"):
        library.load("zzz")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("messages: [{path: src/**, matches: '[x'}]", "'[x' is not a valid regular expression"),
        ("messages: [{path: src/**, matches: '(x'}]", "'(x' is not a valid regular expression"),
        ("messages: [{path: a//b, matches: x}]", "glob 'a//b'"),
    ],
)
def test_what_a_commit_says_is_a_pattern(project: Path, given: str, said: str) -> None:
    edit(project, "    commits: ", f"    {given}\n    commits: ")
    with pytest.raises(DocumentError) as caught:
        library.load(NAME)
    assert said in caught.value.message


def test_the_message_of_every_commit_is_a_pattern(project: Path) -> None:
    edit(project, "    message: '", "    message: '(")
    with pytest.raises(DocumentError, match="is not a valid regular expression"):
        library.load(NAME)


@pytest.mark.parametrize("wrong", ["../humanize/file-sizes", "humanize/../humanize/file-sizes", ""])
def test_a_path_is_no_name(wrong: str) -> None:
    with pytest.raises(UsageError):
        library.load(wrong)


def test_a_project_without_tasks_says_where_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_PROJECT", str(tmp_path))
    assert library.names() == []
    with pytest.raises(UsageError, match="no task"):
        library.load(NAME)


def test_tasks_of_several_folders_stand_side_by_side(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first folder that has a task of a name counts; each has its repository beside it."""
    mine = tmp_path / "mine"
    shutil.copytree(project / "task_repos" / "humanize", mine / "humanize")
    shutil.copytree(project / "task_repos" / "humanize", mine / "again")
    for file in ((mine / "again" / "repo.yaml"), (mine / "again" / "file-sizes" / "task.yaml")):
        file.write_text(file.read_text().replace(": humanize", ": again", 1))
    monkeypatch.setenv("SANDBOX_TASKS", f"{tmp_path}/images{os.pathsep}{mine}")
    assert {"again/file-sizes", NAME, "qs/guard-once"} <= set(library.names())
    assert library.load(NAME).folder == mine / NAME
    assert library.load("again/file-sizes").repository.name == "again"


def test_a_folder_of_tasks_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_TASKS", "/nonexistent")
    with pytest.raises(UsageError, match="SANDBOX_TASKS names what is not a folder: /nonexistent"):
        library.names()


def test_a_project_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_PROJECT", "/nonexistent")
    with pytest.raises(UsageError, match="SANDBOX_PROJECT names what is not a folder"):
        library.names()


def test_the_nearest_folder_of_tasks_is_found_from_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SANDBOX_PROJECT", raising=False)
    below = tmp_path / "mine" / "src" / "deep"
    below.mkdir(parents=True)
    (tmp_path / "mine" / "task_repos").mkdir()
    monkeypatch.chdir(below)
    own = places.project() / "task_repos"
    assert places.task_folders() == [tmp_path / "mine" / "task_repos", own]
    assert NAME in library.names(), "those that come with the project stay"
    monkeypatch.chdir(places.project() / "docs")
    assert places.task_folders() == [own], "once, though it is found twice"


def test_the_id_is_that_of_the_folder(project: Path) -> None:
    edit(project, "id: humanize/file-sizes", "id: humanize/other")
    with pytest.raises(DocumentError, match=r"task.yaml: id: is 'humanize/other', but the folder"):
        library.load(NAME)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("patch: defect.patch", "patch: no.patch", r"world.defects\[0\].patch: there is no file"),
        ("folder: instructions", "folder: no", r"world.overlays\[0\].folder: there is no folder"),
        ("hooks: hooks", "hooks: no", r"world.hooks: there is no folder 'no'"),
        ("staged: staged.patch", "staged: hooks", r"world.worktree.staged: there is no file"),
        ("unstaged: unst", "unstaged: x", r"world.worktree.unstaged: there is no file"),
        ("hidden: hidden", "hidden: ../../..", r"tests.hidden: '../../..' leads out of"),
        ("file: cases.yaml", "file: no.yaml", r"tests.cases.file: there is no file"),
        ("reference: ref", "reference: no", r"tests.cases.reference: there is no file"),
        ("image: python", "image: cobol", r"image: there is no images/cobol/Dockerfile"),
        (
            "release: 4.12.3",
            "release: 9.9.9",
            r"world.release: .9.9.9. is not one of the releases 4.9.0",
        ),
        ("since: 4.9.0", "since: 1.0.0", r"world.defects\[0\].since: '1.0.0' is not one"),
        ("name: freezegun", "name: humanize", r"world.mirror\[0\]: is humanize itself"),
    ],
)
def test_what_the_task_names_must_exist(project: Path, old: str, new: str, problem: str) -> None:
    edit(project, old, new)
    with pytest.raises(DocumentError, match=problem):
        library.load(NAME)


def test_a_repository_without_its_file_is_said(project: Path) -> None:
    (project / "task_repos" / "humanize" / "repo.yaml").unlink()
    with pytest.raises(DocumentError, match=r"humanize/repo.yaml: cannot be read"):
        library.load(NAME)


def test_hidden_files_without_a_listed_test_are_told(project: Path) -> None:
    assert library.unlisted(library.load(NAME)) == []
    added = project / "task_repos" / NAME / "hidden" / "tests" / "test_forgotten.py"
    added.write_text("def test_it(): pass\n")
    assert library.unlisted(library.load(NAME)) == ["tests/test_forgotten.py"]


def test_an_unknown_key_is_refused_with_its_line(project: Path) -> None:
    edit(project, "facet: edit_test_loop", "facett: edit_test_loop")
    with pytest.raises(DocumentError, match=r"task.yaml:2: facett: unknown key; .*facet"):
        library.load(NAME)


@pytest.mark.parametrize(
    "changed",
    ["task.yaml", "defect.patch", "hidden/tests/test_size_units.py", "hooks/pre-commit"],
)
def test_the_digest_covers_every_file(project: Path, changed: str) -> None:
    before = library.load(NAME).digest
    path = project / "task_repos" / NAME / changed
    path.write_text(path.read_text() + "\n")
    assert library.load(NAME).digest != before


def test_a_name_that_is_no_text_is_a_part_of_the_digest(project: Path) -> None:
    before = library.load(NAME).digest
    folder = os.fsencode(project / "task_repos" / NAME / "untracked")
    Path(os.fsdecode(folder + b"/\xff")).write_text("x")
    assert library.load(NAME).digest != before


def test_the_digest_covers_the_repo_file_and_modes(project: Path) -> None:
    digests = {library.load(NAME).digest}
    path = project / "task_repos" / "humanize" / "repo.yaml"
    path.write_text(path.read_text() + "\n")
    digests.add(library.load(NAME).digest)
    (project / "task_repos" / NAME / "hooks" / "pre-commit").chmod(0o644)
    digests.add(library.load(NAME).digest)
    assert len(digests) == 3


def test_the_digest_ignores_what_python_leaves_behind(project: Path) -> None:
    before = library.load(NAME).digest
    folder = project / "task_repos" / NAME / "hidden" / "tests" / "__pycache__"
    folder.mkdir()
    (folder / "x.cpython-311.pyc").write_bytes(b"x")
    assert library.load(NAME).digest == before


def test_the_digest_does_not_depend_on_the_place(project: Path) -> None:
    elsewhere = library.load(NAME).digest
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SANDBOX_PROJECT")
        assert library.load(NAME).digest == elsewhere


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "[bytes, positive,",
            "[positive,",
            r"cases\[6\]: .* has to name bytes once",
        ),
        ("[bytes, positive,", "[bytes, text, positive,", "has to name text once"),
        ("[bytes, positive,", "[bytes, other, positive,", "there is no case other"),
        ("    reference: reference.py\n", "", "tests.cases names no such file"),
        (
            "    reference: reference.py\n",
            "    reference: reference.py\n    undamaged: defect.patch\n",
            "has no script, for which tests.cases names the patch",
        ),
    ],
)
def test_cases_are_those_that_the_task_names(
    project: Path, old: str, new: str, problem: str
) -> None:
    edit(project, old, new)
    with pytest.raises(DocumentError, match=problem):
        library.load(NAME)


def test_something_has_to_fail_before_the_fix() -> None:
    given = library.load(NAME).task.tests.model_dump()
    nothing = given | {"fail_to_pass": (), "cases": None}
    with pytest.raises(ValidationError, match="nothing fails before the fix"):
        Tests.model_validate(nothing)


def test_no_test_has_to_fail_and_to_pass() -> None:
    given = library.load(NAME).task.tests.model_dump()
    (first, *_) = given["fail_to_pass"]
    for twice in ("fail_to_pass", "pass_to_pass"):
        again = given | {twice: (*given[twice], first)}
        with pytest.raises(ValidationError, match="stands twice"):
            Tests.model_validate(again)


def test_what_an_answer_has_to_be_is_of_its_fields_type() -> None:
    for kind, wrong in (("integer", "three"), ("integer", True), ("string", 3), ("list", "a")):
        with pytest.raises(ValidationError, match=f"and the type is {kind}"):
            FinalField.model_validate({"type": kind, "expect": wrong}, strict=False)
    assert FinalField.model_validate({"type": "number", "expect": 3}).expect == 3


def test_the_published_schemas_are_current() -> None:
    published = (ROOT / "docs" / "cases.schema.json").read_text()
    assert json.loads(published) == json.loads(library.case_schema()), (
        "write docs/cases.schema.json anew: "
        "python -c 'from sandbox.tasks import library; print(library.case_schema(), end=\"\")'"
    )
    published = (ROOT / "docs" / "repo.schema.json").read_text()
    assert json.loads(published) == json.loads(library.repository_schema()), (
        "write docs/repo.schema.json anew: python -c "
        "'from sandbox.tasks import library; print(library.repository_schema(), end=\"\")'"
    )
    published = (ROOT / "docs" / "task.schema.json").read_text()
    assert json.loads(published) == json.loads(library.schema()), (
        "write docs/task.schema.json anew: "
        "python -c 'from sandbox.tasks import library; print(library.schema(), end=\"\")'"
    )
