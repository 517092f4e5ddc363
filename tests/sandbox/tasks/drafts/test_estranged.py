"""A repository under other names: its seeds are the same, and its own names are gone."""

from pathlib import Path

import pytest

from sandbox.model import places
from sandbox.model.errors import UsageError
from sandbox.model.renaming import LEGAL, WORD
from sandbox.rules.checker.check import check
from sandbox.tasks import library
from sandbox.tasks.drafts import layout, seed_folder
from sandbox.tasks.images import package_clients
from sandbox.tasks.repos import archive
from sandbox.tasks.seeds import mined_repository
from sandbox.tasks.seeds.edits import edits_of, replanted
from sandbox.tasks.seeds.mined_repository import MinedRepository
from sandbox.tasks.sources import Sources

NAMES = seed_folder.estranged()
QUICK = ("inflection", "humanize", "pytz")


def origin(name: str) -> str:
    return seed_folder.folders()[name].parent.parent.name


def load(name: str) -> MinedRepository:
    return mined_repository.load(name, Sources(places.cache(), package_clients.provide), print)


def marked(name: str) -> object:
    marks = () if origin(name) in QUICK else (pytest.mark.thorough,)
    return pytest.param(name, id=origin(name), marks=marks)


@pytest.mark.parametrize("name", [marked(name) for name in NAMES])
def test_its_seeds_fit_it_and_its_own_names_are_gone(name: str) -> None:
    found = load(name)
    renaming, original = found.folder.renaming, seed_folder.load(origin(name))
    path = Sources(places.cache(), package_clients.provide).fetch(found.release.source, print)
    left = set()
    for file in archive.read(path, renaming):
        text = b"" if b"\0" in file.data or LEGAL.search(file.path) else file.data
        left |= {word.decode() for word in WORD.findall(file.path.encode() + b"\n" + text)}
    assert not left & renaming.words.keys()
    assert [seed.id for seed in found.folder.seeds.seeds] == [
        seed.id for seed in original.seeds.seeds
    ]
    for seed in found.folder.seeds.seeds:
        # files under other names stand in another order
        edits = sorted(seed.edits, key=lambda edit: (edit.path, edit.line))
        assert list(edits_of(found, replanted(found, seed))) == edits
        assert set(seed.fail_to_pass) <= set(found.folder.passing)
    assert len(found.folder.passing) == len(original.passing)


@pytest.mark.parametrize("draft", layout.names())
def test_each_draft_is_sound_under_other_names(
    draft: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_CACHE", str(tmp_path / "cache"))
    (name,) = (each for each in NAMES if origin(each) == "humanize")
    seed = seed_folder.load(name).seeds.seeds[0]
    loaded = library.load(f"{name}/{draft}-{seed.id[-8:]}")
    assert check(loaded.task).sound
    assert loaded.repository.name == name
    assert loaded.repository.words
    assert "humanize" not in f"{loaded.task.prompt} {loaded.task.tests} {loaded.task.scope}"
    assert loaded.digest == library.load(f"{name}/{draft}-{seed.id[-8:]}").digest


def test_operators_can_be_put_on_it() -> None:
    (name,) = (each for each in NAMES if origin(each) == "humanize")
    seed = seed_folder.load(name).seeds.seeds[0]
    loaded = library.load(f"{name}/ticket-{seed.id[-8:]}+change-desk.2+far-instructions.3@7")
    assert check(loaded.task).sound
    assert loaded.base == f"{name}/ticket-{seed.id[-8:]}"


def test_there_is_no_task_of_a_name_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="There is no task"):
        library.load("zzzzz/ticket-f899ce3e")
