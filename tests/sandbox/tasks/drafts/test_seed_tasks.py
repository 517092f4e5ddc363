"""A seed is a task by its name alone: the same bytes each time, and no other name is one."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.model import places
from sandbox.model.errors import UsageError
from sandbox.rules.checker.check import check
from sandbox.tasks import library
from sandbox.tasks.drafts import seed_folder
from tests.end_to_end import project as projects

NAME = "humanize/ticket-f899ce3e"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SANDBOX_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_it_is_the_same_each_time(cache: Path) -> None:
    first = library.load(NAME)
    shutil.rmtree(cache)
    again = library.load(NAME)
    assert first.digest == again.digest
    assert first.task == again.task
    assert first.task.id == NAME
    assert check(first.task).sound


def test_its_tests_are_all_that_pass_without_the_defect() -> None:
    of = seed_folder.load("humanize")
    seed = next(each for each in of.seeds.seeds if each.id.endswith("f899ce3e"))
    tests = library.load(NAME).task.tests
    assert tests.fail_to_pass == seed.fail_to_pass
    assert {*tests.fail_to_pass, *tests.pass_to_pass} == {*of.passing}


def test_nothing_is_judged_by_a_test_that_the_clock_decides(tmp_path: Path) -> None:
    of = seed_folder.load("tldraw-state")
    (unsteady,) = of.mining.unsteady
    found_to_pass = replace(of, path=tmp_path)
    found_to_pass.store_passing({*of.passing, unsteady})
    assert unsteady.partition("::")[2] in (tmp_path / places.PASSING).read_text()
    assert {*found_to_pass.passing} == {*of.passing}
    tests = library.load("tldraw-state/resume-4d62194a").task.tests
    beside = [test for test in tests.pass_to_pass if test.startswith(unsteady.partition("::")[0])]
    assert beside
    assert unsteady not in {*tests.fail_to_pass, *tests.pass_to_pass}


def test_many_at_once_write_it_once(cache: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        digests = set(pool.map(lambda _: library.load(NAME).digest, range(8)))
    assert len(digests) == 1
    (kept,) = cache.glob("planted/*/humanize/*/task.yaml")
    assert not [path for path in kept.parents[2].iterdir() if path.name.startswith(".")]


def test_operators_can_be_put_on_it() -> None:
    plain, harder = library.load(NAME), library.load(f"{NAME}+change-desk.2+queue.2@7")
    assert harder.base == plain.task.id
    assert len(harder.task.oracle) > len(plain.task.oracle)


@pytest.mark.parametrize(
    "name", ["humanize/ticket-00000000", "humanize/nothing-f899ce3e", "nowhere/ticket-f899ce3e"]
)
def test_what_is_no_seed_is_no_task(name: str) -> None:
    with pytest.raises(UsageError, match=f"There is no task '{name}'"):
        library.load(name)


def test_its_tests_are_not_recorded_but_mined() -> None:
    with pytest.raises(UsageError, match="its tests are those that were found when it was mined"):
        library.load_to_record(NAME)


def test_where_nobody_knows_which_tests_pass_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = projects.copy(tmp_path / "project")
    monkeypatch.setenv("SANDBOX_PROJECT", str(project.folder))
    (project.folder / "task_repos/humanize/passing.yaml").unlink()
    with pytest.raises(UsageError, match="Nothing says which tests of humanize pass"):
        library.load(NAME)


def test_a_changed_draft_or_seed_is_another_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = library.load(NAME)
    project = projects.copy(tmp_path / "project")
    monkeypatch.setenv("SANDBOX_PROJECT", str(project.folder))
    assert library.load(NAME).digest == before.digest
    seeds = project.folder / "task_repos/humanize/seeds.yaml"
    seeds.write_text(seeds.read_text().replace("tests/test_", "tests/TEST_"))
    assert library.load(NAME).digest != before.digest


@pytest.mark.parametrize("repository", ["go-version", "humanize", "isodate"])
def test_a_handover_is_right_where_it_names_each_file_and_no_other(repository: str) -> None:
    several = 0
    for seed in seed_folder.load(repository).seeds.seeds:
        loaded = library.load(f"{repository}/resume-{seed.id.rpartition('-')[2]}")
        handover = (loaded.folder / "untracked/notes/handover.md").read_text()
        line = next(each for each in handover.splitlines() if "The fault is in" in each)
        named = {*line.partition(". ")[0].split("`")[1::2]}
        changed = {edit.path for edit in seed.edits}
        assert loaded.task.final["handover_right"].expect is (named == changed)
        assert named == changed or named.isdisjoint(changed)
        several += len(named) > 1
    assert several


def test_the_agent_is_not_told_what_kind_of_defect_it_is() -> None:
    of = seed_folder.load("humanize")
    seed = next(each for each in of.seeds.seeds if each.id.endswith("f899ce3e"))
    loaded = library.load(NAME)
    assert not any(kind in f"{loaded.task.id} {loaded.task.prompt}" for kind in seed.kinds)
    listed = [each for each in of.seeds.seeds if each.id[-8:] == seed.id[-8:]]
    assert listed == [seed]


def test_digests_name_one_seed_of_a_repository_each() -> None:
    for name in seed_folder.names():
        ends = [seed.id[-8:] for seed in seed_folder.load(name).seeds.seeds]
        assert len(set(ends)) == len(ends), name


def test_it_lies_in_the_cache_and_nowhere_else(cache: Path) -> None:
    loaded = library.load(NAME)
    assert loaded.folder.is_relative_to(cache / "planted")
    assert (loaded.folder.parent / "repo.yaml").read_bytes() == (
        places.project() / "task_repos/humanize/repo.yaml"
    ).read_bytes()
