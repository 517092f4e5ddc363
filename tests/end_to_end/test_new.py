"""A repository and a task are made by the command, from releases and a broken checkout."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from sandbox.model import documents
from sandbox.model.repository import Repository
from sandbox.model.seed import Mining
from sandbox.model.task import TaskFile
from tests.end_to_end.commands import sandbox
from tests.end_to_end.project import Project

CODE = '''"""Sums of money."""


def total(prices, discount=0):
    """Add prices, less a discount in per cent of them."""
    whole = sum(prices)
    return whole - whole * discount / 100


def cheapest(prices):
    """Give the lowest price, None of nothing."""
    return min(prices) if prices else None
'''
TESTS = """from till import cheapest, total


def test_a_total():
    assert total([1, 2, 3]) == 6


def test_a_discount():
    assert total([100], discount=10) == 90


def test_the_cheapest():
    assert cheapest([3, 1, 2]) == 1


def test_the_cheapest_of_nothing():
    assert cheapest([]) is None
"""
PERSON = ("-c", "user.name=An Author", "-c", "user.email=author@example.org")


def git(folder: Path, *words: str) -> None:
    subprocess.run(("git", *PERSON, *words), cwd=folder, check=True, capture_output=True)


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    """A repository with a tag, a later commit, and one after that."""
    folder = tmp_path / "till"
    (folder / "tests").mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    for number, (code, message) in enumerate(
        [(CODE.replace("Sums", "Totals"), "first"), (CODE, "second"), (f"{CODE}\n", "third")]
    ):
        (folder / "till.py").write_text(code)
        (folder / "tests/test_till.py").write_text(TESTS)
        git(folder, "add", "--all")
        git(
            folder, "commit", "--quiet", "-m", message, "--date", f"2024-0{number + 1}-01T00:00:00Z"
        )
        if number < 2:
            git(folder, "tag", f"1.{number}")
    return folder


def made(project: Project, where: str, *more: str) -> Repository:
    ended = sandbox(
        "new", "till", "--from", where, "--like", "inflection", *more, **project.environment
    )
    assert ended.code == 0, ended
    return documents.load(project.folder / "task_repos/till/repo.yaml", Repository)


@pytest.mark.slow
def test_a_git_repository_becomes_one_with_its_tags_as_releases(
    project: Project, upstream: Path
) -> None:
    repository = made(project, f"git:{upstream}")
    versions = [release.version for release in repository.releases]
    assert versions[:2] == ["1.0", "1.1"]
    assert len(versions) == 3
    folder = project.folder / "task_repos/till"
    archives = {path.name for path in (folder / "sources").iterdir()}
    assert archives == {f"till-{version}.tar.gz" for version in versions}
    mining = documents.load(folder / "mining.yaml", Mining)
    assert (mining.sources, mining.tests) == (("*.py",), ("tests/**/test_*.py",))
    shutil.rmtree(folder)
    words = ("new", "till", "--from", f"git:{upstream}", "--like", "inflection", "--json")
    told = json.loads(sandbox(*words, **project.environment).out)
    assert (told["path"], told["next"][0]) == (str(folder), "read it through")
    again = sandbox("new", "till", "--from", f"git:{upstream}", **project.environment)
    assert (again.code, "is there already" in again.err) == (2, True)


@pytest.mark.slow
def test_a_bundle_and_a_commit_do_as_well(project: Project, upstream: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "till.bundle"
    git(upstream, "bundle", "create", str(bundle), "--all")
    of_bundle = made(project, f"git:{bundle}@1.1")
    shutil.rmtree(project.folder / "task_repos/till")
    of_folder = made(project, f"git:{upstream}@1.1")
    assert of_bundle == of_folder, "the same commits give the same archives"
    assert [release.version for release in of_folder.releases] == ["1.0", "1.1"]
    shutil.rmtree(project.folder / "task_repos/till")
    assert len(made(project, f"git:{upstream}@main", "--releases", "1").releases) == 1


@pytest.mark.slow
@pytest.mark.engine
def test_a_broken_checkout_becomes_a_task_that_its_oracle_alone_passes(
    project: Project, upstream: Path, tmp_path: Path, runs: Path
) -> None:
    made(project, f"git:{upstream}@1.1")
    broken = tmp_path / "broken"
    shutil.copytree(upstream, broken)
    (broken / "till.py").write_text(CODE)
    words = ("new", "till/wrong-discount", "--defect-from", broken)
    unchanged = sandbox(*words, **project.environment)
    assert (unchanged.code, "differs from till 1.1" in unchanged.err) == (2, True)
    nowhere = sandbox("new", "till/x", "--defect-from", tmp_path / "x", **project.environment)
    assert (nowhere.code, "There is no folder" in nowhere.err) == (2, True)
    (broken / "till.py").write_text(CODE.replace("whole - whole", "whole + whole"))
    ended = sandbox(*words, **project.environment)
    assert ended.code == 0, ended
    assert "1 of 4 tests fail with the defect in till.py" in ended.out
    folder = project.folder / "task_repos/till/wrong-discount"
    assert documents.load(folder / "task.yaml", TaskFile).tests.recorded == "tests.yaml"
    again = sandbox(*words, **project.environment)
    assert (again.code, "is there already" in again.err) == (2, True)
    for agent, code in (("oracle", 0), ("null", 1)):
        ran = sandbox(
            "run", "till/wrong-discount", "--agent", agent, "--runs", runs, **project.environment
        )
        assert ran.code == code, ran


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("till",), "A repository is made from releases"),
        (("till/x",), "A repository is made from releases"),
        (("till/x", "--from", "pypi:till"), "A repository is made from releases"),
        (("till", "--from", "elsewhere:till"), "does not say where releases come from"),
        (("till", "--from", "debian:till"), "debian:SOURCE@SUITE"),
        (("Till!", "--from", "git:."), "is not a valid name"),
        (("till", "--from", "git:/nonexistent"), "/nonexistent has no commit HEAD"),
        (("till", "--from", "git:/nonexistent", "--like", "nothing"), "no repository 'nothing'"),
        (("nothing/x", "--defect-from", "."), "no repository 'nothing' that can be mined"),
        (("till/x", "--oracle-from", "last"), "is named `last`"),
    ],
)
def test_what_cannot_be_made_is_told(
    project: Project, words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    ended = sandbox("new", *words, "--runs", tmp_path / "none", **project.environment)
    assert ended.code == 2, ended
    assert said in " ".join(ended.err.split())
    assert not (project.folder / "task_repos/till").exists()
