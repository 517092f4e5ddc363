"""The standard suite: as it was pinned, wide enough, and harder from level to level."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from sandbox.model.errors import DocumentError
from sandbox.tasks.plans.operators import OPERATORS
from sandbox.tasks.plans.variant import Variant
from sandbox.tasks.suites import suite
from sandbox.tasks.suites.generator import facets
from sandbox.tasks.suites.levels import alternatives, levels
from tests import ROOT

STANDARD = ROOT / "suites/standard.yaml"
LEVELS = ("L2", "L3", "L4", "L5", "L6")
MADE_BY = "`make suite` makes it anew"


@pytest.mark.parametrize("share", [7, pytest.param(1, marks=pytest.mark.thorough)])
def test_the_standard_suite_is_as_it_was_pinned(share: int) -> None:
    pinned = suite.Suite(variants=suite.read(STANDARD).variants[::share])
    assert not list(suite.differing(pinned)), MADE_BY


def test_each_facet_has_twenty_variants_of_at_least_twelve_patterns() -> None:
    patterns: defaultdict[str, set[str]] = defaultdict(set)
    counts: Counter[tuple[str, str]] = Counter()
    for pin in suite.read(STANDARD).variants:
        patterns[pin.facet].add(pin.pattern)
        counts[pin.facet, pin.level] += 1
    assert counts == {(facet, level): 4 for facet in facets() for level in LEVELS}
    assert min(map(len, patterns.values())) >= 12


def test_every_operator_is_in_it() -> None:

    variants = (Variant.parse(pin.variant) for pin in suite.read(STANDARD).variants)
    named = {name for variant in variants for name, _ in variant.operators}
    assert named == {operator.name for operator in OPERATORS}


def test_a_facet_has_what_its_levels_add_to_it() -> None:
    for pin in suite.read(STANDARD).variants:
        drawn = {f"{name}.{strength}" for name, strength in Variant.parse(pin.variant).operators}
        level = levels()[pin.level]
        for group in level.always_in(pin.facet):
            assert drawn & set(alternatives(group)), (pin.variant, group)


@pytest.mark.parametrize("level", ["L5", "L6", "L7"])
def test_what_a_facet_always_has_from_the_fifth_level_on(level: str) -> None:
    def always(facet: str) -> list[str]:
        return [group[0].partition(".")[0] for group in levels()[level].always_in(facet)]

    assert always("tool_discovery").count("decoy-tools") == 1
    assert always("tool_discovery").count("check-digits") == 1
    assert always("hooks_policy").count("check-digits") == 1
    assert "decoy-tools" not in always("hooks_policy")


@pytest.mark.parametrize(("level", "below"), [("L6", "L5"), ("L7", "L6")])
def test_a_level_from_the_sixth_on_has_what_the_one_below_has(level: str, below: str) -> None:
    have = [set(alternatives(group)) for group in levels()[level].always]
    for group in levels()[below].always:
        if group[0].startswith("queue"):
            continue  # it is a longer one
        assert any(one <= set(alternatives(group)) for one in have), group


def test_what_has_changed_since_it_was_pinned_is_told() -> None:
    read = suite.read(STANDARD)
    first, second = read.variants[:2]
    altered = suite.Suite(
        variants=(
            first.model_copy(update={"digest": "0" * 64}),
            second.model_copy(update={"variant": "no/task"}),
            read.variants[2],
        )
    )
    wrong, missing = suite.differing(altered)
    assert wrong.startswith(f"{first.variant}: it is {first.digest[:16]}, not 0000")
    assert missing == "no/task: There is no task 'no/task'."


def test_a_suite_is_read_as_it_was_written(tmp_path: Path) -> None:
    read = suite.read(STANDARD)
    path = tmp_path / "suite.yaml"
    path.write_text(suite.text(read))
    assert suite.read(path) == read
    path.write_text("variants:\n- variant: a\n")
    with pytest.raises(DocumentError, match=r"suite\.yaml:2: .*is missing"):
        suite.read(path)
