"""Defects are drawn the same each time, and written down so that they can be planted again."""

import re

import pytest

from sandbox.model import places
from sandbox.model.errors import EvidenceError, UsageError
from sandbox.run.mine.draw import candidates, drawn
from sandbox.run.mine.masks import stored
from sandbox.run.mine.planted import planted, seed_of
from sandbox.tasks.drafts import seed_folder
from sandbox.tasks.images import package_clients
from sandbox.tasks.seeds import mined_repository
from sandbox.tasks.seeds.edits import edits_of, replanted
from sandbox.tasks.seeds.mined_repository import MinedRepository
from sandbox.tasks.seeds.older_lines import older_lines
from sandbox.tasks.seeds.taken_back import KIND
from sandbox.tasks.sources import Sources


def load(name: str) -> MinedRepository:
    return mined_repository.load(name, Sources(places.cache(), package_clients.provide), print)


@pytest.fixture(scope="module")
def mined() -> MinedRepository:
    return load("inflection")


@pytest.mark.parametrize("places", [1, 2, 4])
def test_what_is_planted_can_be_planted_again(mined: MinedRepository, places: int) -> None:
    tests = sorted(f"{test.path}::x" for test in mined.tests)
    seen = 0
    for _, defect in zip(range(60), drawn(candidates(mined), places, 7), strict=False):
        files = planted(mined, defect)
        if files is None:
            continue
        seen += 1
        seed = seed_of(mined, defect, files, tests, 9)
        assert replanted(mined, seed) == files
        assert seed.edits == edits_of(mined, files)
        assert len({(m.path, m.function) for m in defect}) == places == seed.figures.places
    assert seen > 40


def test_the_draw_is_the_same_each_time_and_kinds_take_turns(mined: MinedRepository) -> None:
    found = candidates(mined)
    first = [defect for _, defect in zip(range(20), drawn(found, 1, 3), strict=False)]
    again = [defect for _, defect in zip(range(20), drawn(candidates(mined), 1, 3), strict=False)]
    assert first == again
    assert len({mutation.kind for (mutation,) in first}) > 12
    assert first != [defect for _, defect in zip(range(20), drawn(found, 1, 4), strict=False)]


def test_kinds_can_be_chosen(mined: MinedRepository) -> None:
    every = sorted({mutation.kind for mutation in candidates(mined)})
    assert {mutation.kind for mutation in candidates(mined, every[:2])} == {*every[:2]}
    assert len(every) > 2


def test_fixes_of_upstreams_own_are_among_them() -> None:
    humanize = load("humanize")
    assert any(mutation.kind == KIND for mutation in candidates(humanize))


def test_no_seed_shows_its_place_by_what_is_left_behind() -> None:
    """A reader would find the defect by a search: for blanks at the end of a line, say."""
    for name in seed_folder.names():
        for seed in seed_folder.load(name).seeds.seeds:
            own = [edit for edit in seed.edits if KIND not in seed.kinds]
            kept = {line for edit in own for line in edit.before.splitlines()}
            new = {line for edit in own for line in edit.after.splitlines()} - kept
            assert not [line for line in new if line != line.rstrip(" \t")], (name, seed.id)
            assert not [line for line in new if re.search(r"\belse *(\{ *\}|: *pass)$", line)]


@pytest.mark.parametrize("name", seed_folder.names())
def test_the_seeds_of_a_repository_fit_its_release(name: str) -> None:
    found = load(name)
    sources = {source.path: source.data for source in found.sources}
    assert found.folder.seeds.seeds
    for seed in found.folder.seeds.seeds:
        files = replanted(found, seed)
        assert all(data != sources[path] for path, data in files.items())
        assert edits_of(found, files) == seed.edits
        assert older_lines(found, seed.edits) == seed.older, "no history shows more than it has to"
        assert len(set(seed.fail_to_pass)) == seed.figures.failing
    noticed = [
        (seed.fail_to_pass, {edit.path for edit in seed.edits}) for seed in found.folder.seeds.seeds
    ]
    assert all(noticed.count(each) == 1 for each in noticed), "no two are the same defect"


def test_a_seed_of_another_release_is_refused(mined: MinedRepository) -> None:
    seed = mined.folder.seeds.seeds[0]
    edit = seed.edits[0]
    other = seed.model_copy(update={"edits": (edit.model_copy(update={"before": "x\n"}),)})
    with pytest.raises(EvidenceError, match=rf"{re.escape(edit.path)}, line {edit.line}"):
        replanted(mined, other)


def test_a_repository_that_cannot_be_mined_is_told() -> None:
    with pytest.raises(UsageError, match="can be mined"):
        load("nothing")


@pytest.mark.parametrize("name", ["inflection", "cjson"])
def test_the_place_of_a_seed_is_planted_as_it_was(name: str) -> None:
    repository = load(name)
    seeds = repository.folder.seeds.seeds
    alone = {tuple(seed.edits): seed for seed in seeds if len(seed.edits) == 1}
    masked = {edit for seed in seeds if seed.masking for edit in seed.edits}
    found = list(stored(repository))
    for one in found:
        files = planted(repository, (one.mutation,))
        assert files is not None
        seed = alone.pop(edits_of(repository, files))
        assert one.tests == set(seed.fail_to_pass)
        assert not masked & set(seed.edits)
    assert found
    assert all(masked & set(edits) for edits in alone)
