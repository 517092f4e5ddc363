"""A task made of a seed is sound as it is, and nothing is overwritten."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from sandbox.model.draft import Draft
from sandbox.model.errors import UsageError
from sandbox.model.seed import Seed
from sandbox.rules.checker.check import check
from sandbox.tasks import library
from sandbox.tasks.drafts import layout, seed_folder
from sandbox.tasks.drafts.planting import plant
from sandbox.tasks.drafts.seed_folder import SeedFolder
from sandbox.tasks.suites.generator import facets
from tests.end_to_end import project as projects

NAMES = seed_folder.names()
FACETS = [name for name in layout.names() if name not in ("bare", "backlog")]
"""Drafts of one seed, one for each facet."""


def load(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> SeedFolder:
    project = projects.copy(folder / "project")
    monkeypatch.setenv("SANDBOX_PROJECT", str(project.folder))
    return seed_folder.load(name)


def planted(of: SeedFolder, seed: Seed, name: str, draft: str = "bare") -> Path:
    plant(of, seed, draft, of.path / name, of.passing)
    return of.path / name


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_task_of_each_seed_is_sound(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = load(name, tmp_path, monkeypatch)
    for number, seed in enumerate(of.seeds.seeds):
        planted(of, seed, f"planted-{number}")
        loaded = library.load(f"{name}/planted-{number}")
        assert check(loaded.task).sound, seed.id
        assert loaded.task.tests.fail_to_pass == seed.fail_to_pass
        changed = {edit.path for edit in seed.edits} - set(of.mining.sources)
        assert not any(path in loaded.task.prompt for path in changed)


def test_what_sanitizers_notice_is_judged_under_them() -> None:
    seeds = seed_folder.load("cjson").seeds.seeds
    watched, plain = (
        library.load(f"cjson/bare-{seed.id[-8:]}").task.tests
        for seed in (
            next(each for each in seeds if each.sanitized),
            next(each for each in seeds if not each.sanitized),
        )
    )
    assert (watched.sanitized, plain.sanitized) == (True, False)
    assert (watched.command, plain.command) == ("make -C tests sanitized", "make -C tests")
    itself = "tests/misc_tests.c::deallocated_pointers_should_be_set_to_null"
    known = {*plain.fail_to_pass, *plain.pass_to_pass}
    assert {*watched.fail_to_pass, *watched.pass_to_pass} == known - {itself}


def fitting(name: str, seed: Seed) -> list[str]:
    """Give the drafts of a seed; the others are refused."""
    at_the_top = "/" not in min(edit.path for edit in seed.edits)
    mining = seed_folder.load(name).mining
    unfit = {
        "ranked": at_the_top,
        "loop": mining.framework != "pytest",
        "tools": mining.image != "python",
    }
    for draft, refused in unfit.items():
        if refused:
            with pytest.raises(UsageError, match=f"The draft {draft} does not fit {seed.id}"):
                library.load(f"{name}/{draft}-{seed.id[-8:]}")
    return [draft for draft in FACETS if not unfit.get(draft)]


@pytest.mark.parametrize("name", ["xmltodict", "minimist", "humanize"])
def test_a_draft_that_would_ask_for_what_nobody_can_know_is_refused(name: str) -> None:
    seed = seed_folder.load(name).seeds.seeds[0]
    assert len(fitting(name, seed)) == {"xmltodict": 6, "minimist": 4, "humanize": 7}[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_each_draft_is_sound_in_each_repository(name: str) -> None:
    for seed in seed_folder.load(name).seeds.seeds[:2]:
        for draft in fitting(name, seed):
            task = library.load(f"{name}/{draft}-{seed.id[-8:]}").task
            report = check(task)
            assert report.sound, task.id
            assert report.difficulty.violations >= len(task.rules) - len(IMPLIED.get(draft, ()))


IMPLIED = {
    "approved": ("asked-when-tested",),
    "loop": ("failure-seen-first",),
    "tools": ("component-was-told",),
}
"""Rules that cannot be broken without another one, or without a wrong answer."""


def test_a_ticket_whose_tests_no_rule_can_follow_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = load("cjson", tmp_path, monkeypatch)
    mining = of.mining.model_copy(update={"command": "cmake --build /tmp/b && ctest"})
    with pytest.raises(UsageError, match=r"cannot follow which tests `.* ctest"):
        planted(replace(of, mining=mining), of.seeds.seeds[0], "ticket", "ticket")
    assert not (of.path / "ticket").exists()


@pytest.mark.parametrize(("name", "program"), [("cjson", "cJSON"), ("zegemol", "")])
def test_what_a_repository_ships_is_committed_under_its_own_names(name: str, program: str) -> None:
    of = seed_folder.load(name)
    digest = of.seeds.seeds[0].id[-8:]
    for draft, folder in (("bare", "instructions"), ("ticket", "project")):
        loaded = library.load(f"{name}/{draft}-{digest}")
        makefile = (loaded.folder / folder / "tests/Makefile").read_text()
        assert ("../cJSON_Utils.c" in makefile) == bool(program)
        assert loaded.task.tests.command == "make -C tests"
    assert not seed_folder.load("humanize").shipped


@pytest.mark.parametrize("draft", FACETS)
def test_each_lies_in_a_checkout_that_is_in_use(
    draft: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = load("humanize", tmp_path, monkeypatch)
    seed = of.seeds.seeds[0]
    folder = planted(of, seed, "ticket", draft)
    task = library.load("humanize/ticket").task
    world = task.world
    assert world.hooks
    assert world.mirror
    assert world.worktree.staged
    assert world.worktree.unstaged
    assert world.worktree.untracked
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("AGENTS.md"))
    assert found == [
        "project/AGENTS.md",
        "project/notes/AGENTS.md",
        "project/src/humanize/AGENTS.md",
    ]
    assert not [*folder.rglob("nested.md"), *folder.rglob("mirror.yaml")]
    assert all((folder / "hooks" / hook.name).stat().st_mode & 0o100 for hook in HOOKS)
    assert len(task.prompt.split()) <= WORDS
    assert check(library.load("humanize/ticket+change-desk.3+queue.2+leftovers.3").task).sound


HOOKS = [*(layout.DRAFTS / "ticket/hooks").iterdir()]


def test_the_drafts_are_of_all_facets() -> None:
    assert sorted(get_args(Draft)) == layout.names()
    drafts = [str(layout.load(name).task["facet"]) for name in FACETS]
    assert sorted(drafts) == sorted(facets())


WORDS = 150
"""Of a prompt that states the goal, the place of the rules and the fields, at most."""

HARDER = (
    "change-desk.3+missing-argument.2+escalation.1",
    "change-desk.3+queue.2",
    "change-desk.2+recoverable-failure.2+tight-budget.3",
    "far-instructions.2",
)


@pytest.mark.parametrize("operators", HARDER)
def test_operators_can_be_put_on_it(
    operators: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = load("humanize", tmp_path, monkeypatch)
    seed = of.seeds.seeds[0]
    planted(of, seed, "planted")
    plain = check(library.load("humanize/planted").task)
    harder = check(library.load(f"humanize/planted+{operators}").task)
    assert harder.sound
    assert harder.pattern != plain.pattern or "far" in operators


def test_a_name_that_is_taken_is_refused_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = load("humanize", tmp_path, monkeypatch)
    seed = of.seeds.seeds[0]
    file = of.path / "file-sizes/task.yaml"
    before = file.read_bytes()
    with pytest.raises(UsageError, match="file-sizes"):
        planted(of, seed, "file-sizes")
    assert file.read_bytes() == before
