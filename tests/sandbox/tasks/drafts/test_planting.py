"""A task made of a seed is sound as it is, and nothing is overwritten."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.model import places
from sandbox.model.errors import UsageError
from sandbox.rules.checker.check import check
from sandbox.tasks import library
from sandbox.tasks.images import package_clients
from sandbox.tasks.seeds import mined_repository
from sandbox.tasks.seeds.edits import replanted
from sandbox.tasks.seeds.languages import parsed
from sandbox.tasks.seeds.mined_repository import MinedRepository
from sandbox.tasks.seeds.plant import plant
from sandbox.tasks.sources import Sources
from tests.end_to_end import project as projects

NAMES = mined_repository.names()


def load(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> MinedRepository:
    project = projects.copy(folder / "project")
    monkeypatch.setenv("SANDBOX_PROJECT", str(project.folder))
    cache = Sources(places.cache(), package_clients.provide)
    return mined_repository.load(name, cache, print)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_task_of_each_seed_is_sound(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mined = load(name, tmp_path, monkeypatch)
    for number, seed in enumerate(mined.seeds.seeds):
        plant(mined, seed, replanted(mined, seed), f"planted-{number}")
        loaded = library.load(f"{name}/planted-{number}")
        assert check(loaded.task).sound, seed.id
        assert loaded.task.tests.fail_to_pass == seed.fail_to_pass
        changed = {edit.path for edit in seed.edits} - set(mined.mining.sources)
        assert not any(path in loaded.task.prompt for path in changed)


UNKNOWN = {"cjson": "ctest", "pycparser": "-k"}
"""Repositories whose command rules cannot follow, and why."""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*NAMES} - {*UNKNOWN}))
def test_a_ticket_is_sound_in_each_repository(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mined = load(name, tmp_path, monkeypatch)
    for number, seed in enumerate(mined.seeds.seeds[:2]):
        plant(mined, seed, replanted(mined, seed), f"ticket-{number}", draft="ticket")
        task = library.load(f"{name}/ticket-{number}").task
        report = check(task)
        assert report.sound, seed.id
        assert report.difficulty.violations == len(task.rules)


@pytest.mark.slow
@pytest.mark.parametrize("name", UNKNOWN)
def test_a_ticket_whose_tests_no_rule_can_follow_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mined = load(name, tmp_path, monkeypatch)
    seed = mined.seeds.seeds[0]
    with pytest.raises(UsageError, match=f"cannot follow which tests `.*{UNKNOWN[name]}"):
        plant(mined, seed, replanted(mined, seed), "ticket", draft="ticket")
    assert not (mined.folder / "ticket").exists()


def test_a_ticket_lies_in_a_checkout_that_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mined = load("humanize", tmp_path, monkeypatch)
    seed = mined.seeds.seeds[0]
    folder = plant(mined, seed, replanted(mined, seed), "ticket", draft="ticket")
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
    assert len(task.prompt.split()) <= WORDS
    assert check(library.load("humanize/ticket+change-desk.3+queue.2+leftovers.3").task).sound


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
    mined = load("humanize", tmp_path, monkeypatch)
    seed = mined.seeds.seeds[0]
    plant(mined, seed, replanted(mined, seed), "planted")
    plain = check(library.load("humanize/planted").task)
    harder = check(library.load(f"humanize/planted+{operators}").task)
    assert harder.sound
    assert harder.pattern != plain.pattern or "far" in operators


def test_a_name_that_is_taken_is_refused_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mined = load("humanize", tmp_path, monkeypatch)
    seed = mined.seeds.seeds[0]
    file = mined.folder / "file-sizes/task.yaml"
    before = file.read_bytes()
    with pytest.raises(UsageError, match="file-sizes"):
        plant(mined, seed, replanted(mined, seed), "file-sizes")
    assert file.read_bytes() == before


def test_the_patches_lead_to_the_defect_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As git applies them, over lines with returns and form feeds."""
    mined = load("humanize", tmp_path, monkeypatch)
    path = mined.sources[0].path
    right = b"a = 1 < 2\r\n\x0c\r\nb = '\xe2\x80\xa8'\r\nc = 3"
    wrong = right.replace(b"<", b"<=").replace(b"3", b"4")
    source = parsed(path, right)
    assert source is not None
    mined = replace(mined, sources=(source,))
    folder = plant(mined, mined.seeds.seeds[0], {path: wrong}, "planted")
    checkout = tmp_path / "checkout"
    (checkout / path).parent.mkdir(parents=True)
    (checkout / path).write_bytes(right)
    for patch, content in (("defect.patch", wrong), ("oracle/fix.patch", right)):
        subprocess.run(["git", "apply", folder / patch], cwd=checkout, check=True)
        assert (checkout / path).read_bytes() == content
