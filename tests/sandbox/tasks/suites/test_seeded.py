"""Drawing variants of seeds: of each repository that is named, and of none in two splits."""

import pytest

from sandbox.model import places
from sandbox.model.errors import UsageError
from sandbox.rules.checker.check import check
from sandbox.tasks import library
from sandbox.tasks.plans.operators import tight_output
from sandbox.tasks.plans.variant import Variant
from sandbox.tasks.suites import Generated, Wanted, generate, seeded, suite
from sandbox.tasks.suites.generator import SPLITS

SOME = ("humanize", "go-version", "wonka")
HARDEST = "L6"


def drawn(facet: str, level: str, *, count: int = 2, seed: int = 1) -> list[Generated]:
    tasks = seeded.tasks(SOME, facet, level)
    return generate(Wanted(facet, level, count, seed, tasks=tasks), lambda _: None)


def test_each_seed_is_a_task_of_each_draft_of_the_facet() -> None:
    every = seeded.tasks(["humanize"], "git_hygiene", "L2")
    digests = [name.rpartition("-")[2] for name in every]
    assert len(every) == 36
    assert {digests.count(each) for each in digests} == {2}
    assert {library.load(name).task.facet for name in every[:2]} == {"git_hygiene"}


def test_facets_that_no_draft_fits_are_left_out() -> None:
    assert "tool_discovery" not in seeded.facets_of(["cjson"])
    assert "instruction_hierarchy" not in seeded.facets_of(["cjson", "minimist"])
    assert seeded.facets_of(["cjson", "humanize"]) == seeded.facets()
    drafts = {name.rpartition("-")[0] for name in seeded.tasks(["cjson"], "edit_test_loop", "L2")}
    assert drafts == {"cjson/bare"}


@pytest.mark.parametrize("facet", seeded.facets())
def test_each_facet_has_tasks_in_each_split(facet: str) -> None:
    names = seeded.repositories(["all"])
    by_split = {split: {*seeded.tasks(names, facet, "L4", split)} for split in SPLITS}
    assert all(by_split.values())
    assert set().union(*by_split.values()) == {*seeded.tasks(names, facet, "L4")}
    assert sum(map(len, by_split.values())) == len(set().union(*by_split.values()))


def test_what_gold_is_made_of_is_never_trained_on() -> None:
    of_gold = {
        Variant.parse(pin.variant).task.partition("/")[0]
        for pin in suite.read(places.SUITES["gold"]).variants
    }
    assert len(of_gold) == 12
    assert {seeded.split_of(name) for name in of_gold} == {"test"}


@pytest.mark.parametrize("level", ["L2", pytest.param("L4", marks=pytest.mark.slow)])
def test_what_is_drawn_is_sound_and_the_same_again(level: str) -> None:
    found = drawn("hooks_policy", level)
    assert found == drawn("hooks_policy", level)
    assert {made.variant for made in found}.isdisjoint(
        made.variant for made in drawn("hooks_policy", level, seed=2)
    )
    for made in found:
        loaded = library.load(made.variant)
        assert check(loaded.task).sound
        assert (loaded.digest, loaded.task.facet) == (made.digest, "hooks_policy")
        assert made.variant.startswith(tuple(f"{name}/hooked-" for name in SOME))


def test_where_output_is_bounded_only_what_was_recorded_is_drawn() -> None:
    names = seeded.repositories(["all"])
    for facet in seeded.facets():
        found = seeded.tasks(names, facet, HARDEST)
        assert {*found} == {*seeded.tasks(names, facet, "L4")} & {*tight_output.recorded()}


def test_a_pattern_names_several() -> None:
    assert seeded.repositories(["go-*", "humanize"]) == ("go-semver", "go-version", "humanize")


def test_what_names_nothing_is_told() -> None:
    with pytest.raises(UsageError, match="No repository with seeds is like 'nope'") as caught:
        seeded.repositories(["humanize", "nope"])
    assert "wonka" in caught.value.next_step
    with pytest.raises(UsageError, match="No seed of humanize in dev is a task of the facet"):
        seeded.tasks(["humanize"], "permission", "L2", "dev")
    with pytest.raises(UsageError, match="There is no split 'x'"):
        seeded.tasks(["humanize"], "permission", "L2", "x")
    with pytest.raises(UsageError, match=r"facet 'permission' for L6"):
        seeded.tasks(["mux"], "permission", HARDEST)
    with pytest.raises(UsageError, match="No seed of cjson is a task of the facet") as caught:
        seeded.tasks(["cjson"], "tool_discovery", "L3")
    assert "tool_discovery" not in caught.value.next_step
    assert "hooks_policy" in caught.value.next_step
