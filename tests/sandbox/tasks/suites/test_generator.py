"""Drawing variants: the same on every machine, of their level, and no pattern in two splits."""

import json

import pytest
from pydantic import ValidationError

from sandbox.model.errors import UsageError
from sandbox.tasks import library
from sandbox.tasks.suites import Generated, Wanted, generate
from sandbox.tasks.suites.generator import SPLITS
from sandbox.tasks.suites.levels import Level, alternatives, levels

FACET = "git_hygiene"


def drawn(level: str, count: int = 3, **more: object) -> list[Generated]:
    shown: list[Generated] = []
    wanted = Wanted(FACET, level, count, **{"seed": 1, **more})  # type: ignore[arg-type]
    found = generate(wanted, shown.append)
    assert found == shown
    return found


LEVELS = [
    *("L1", "L3"),
    *(pytest.param(level, marks=pytest.mark.slow) for level in ("L2", "L4", "L5")),
    *(pytest.param(level, marks=pytest.mark.thorough) for level in ("L6", "L7")),
]


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_drawn_has_its_level_and_its_digest(level: str) -> None:
    least, most = levels()[level].decisions
    found = drawn(level)
    for made in found:
        assert least <= made.added <= most
        assert library.load(made.variant).digest == made.digest
        assert (made.facet, made.level) == (FACET, level)
        assert made.actions <= made.turns
    assert drawn(level) == found


def read(fields: dict[str, object]) -> Level:
    return Level.model_validate_json(json.dumps(fields))


def test_a_facet_that_there_is_not_is_refused() -> None:
    groups = {"tool_discovrey": [["decoy-tools.4-5"]]}
    with pytest.raises(ValidationError, match=r"facets\.tool_discovrey"):
        read({"says": "hard", "decisions": [0, 3], "facets": groups})


def test_what_all_have_a_facet_has_not_again() -> None:
    fields = {"says": "hard", "decisions": [0, 3], "always": [["queue.2"], ["flood.1", "brief"]]}
    for more in (["queue.3"], ["queue.1-4", "queue.5"]):
        with pytest.raises(ValidationError, match="permission has queue twice"):
            read({**fields, "facets": {"permission": [more]}})
    assert read({**fields, "facets": {"permission": [["flood.2"]]}}).always_in("permission")


@pytest.mark.thorough
def test_levels_are_harder_one_than_the_other() -> None:
    bounds = [level.decisions for level in levels().values()]
    assert bounds == sorted(bounds)
    means = []
    for level in levels():
        found = drawn(level, count=4)
        means.append(sum(made.added for made in found) / len(found))
    assert means == sorted(means)
    assert len(set(means)) == len(means)


def test_another_seed_draws_others() -> None:
    first = {made.variant for made in drawn("L2")}
    assert first.isdisjoint(made.variant for made in drawn("L2", seed=2))


@pytest.mark.thorough
def test_no_pattern_is_in_two_splits() -> None:
    patterns = [{made.pattern for made in drawn("L4", split=split)} for split in SPLITS]
    assert not set.intersection(*patterns[:2]) | set.intersection(*patterns[1:])
    assert not patterns[0] & patterns[2]


@pytest.mark.slow
def test_operators_that_are_asked_for_are_in_every_variant() -> None:
    for made in drawn("L3", operators=("scarcity.2", "far-instructions.5")):
        assert "+scarcity.2" in made.variant
        assert "+far-instructions.5" in made.variant


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted("x", "L1", 1, 1), "No task has the facet 'x'."),
        (Wanted(FACET, "L0", 1, 1), "There is no level 'L0'."),
        (Wanted(FACET, "L1", 1, 1, split="x"), "There is no split 'x'."),
        (Wanted(FACET, "L1", 1, 1, ("change-desk", "zzz")), "There is no operator 'zzz'."),
        (Wanted(FACET, "L1", 1, 1, ("injection.9",)), "injection has strengths 1 to 5, not 9."),
        (Wanted(FACET, "L1", 1, 1, ("decoy-tools.3",)), "Only 0 of 1 variants"),
        (Wanted(FACET, "L1", 1, 1, ("decoy-tools.3",)), "One reason: decoy-tools needs"),
    ],
)
def test_what_cannot_be_drawn_is_told(wanted: Wanted, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        generate(wanted, lambda _: None)
    assert said in caught.value.message


def test_strengths_may_be_written_as_a_range() -> None:
    assert alternatives(("a.2-4", "b", "c.5")) == ["a.2", "a.3", "a.4", "b", "c.5"]
