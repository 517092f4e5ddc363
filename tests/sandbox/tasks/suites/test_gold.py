"""The gold suite: a task of each facet at each level, each over a seed of its own."""

import re
from collections import Counter
from pathlib import Path

import pytest

from sandbox.tasks import library
from sandbox.tasks.plans.variant import Variant
from sandbox.tasks.suites import suite
from sandbox.tasks.suites.generator import facets
from tests import ROOT

GOLD = ROOT / "suites/gold.yaml"
LEVELS = ("L2", "L3", "L4", "L5", "L6")
MADE_BY = "`make gold` makes it anew"
WORDS = 150
QUEUED = ("L5", "L6")
SIX = 2
"""The strength of a queue of six units."""


@pytest.mark.parametrize("share", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_the_gold_suite_is_as_it_was_pinned(share: int) -> None:
    pinned = suite.Suite(variants=suite.read(GOLD).variants[::share])
    assert not list(suite.differing(pinned)), MADE_BY


def test_each_facet_has_one_of_each_level() -> None:
    counts = Counter((pin.facet, pin.level) for pin in suite.read(GOLD).variants)
    assert counts == {(facet, level): 1 for facet in facets() for level in LEVELS}


def test_each_is_over_a_seed_and_a_pattern_of_its_own() -> None:
    pins = suite.read(GOLD).variants
    seeds = {Variant.parse(pin.variant).task[-8:] for pin in pins}
    assert len(seeds) == len({pin.pattern for pin in pins}) == len(pins)


def test_it_is_of_the_tasks_that_are_named() -> None:
    pins = suite.read(GOLD).variants
    named = suite.named(ROOT / "suites/gold.tasks.yaml")
    assert {(pin.level, Variant.parse(pin.variant).task) for pin in pins} == {
        (level, task) for level, tasks in named.items() for task in tasks
    }


def test_a_project_of_ones_own_need_not_have_the_suites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(suite.own_tasks()) > {Variant.parse(GOLD_ONE).task}
    monkeypatch.setenv("SANDBOX_PROJECT", str(tmp_path))
    assert suite.own_tasks() == []


GOLD_ONE = suite.read(GOLD).variants[0].variant


def test_each_facet_has_a_queue_of_six_or_more() -> None:
    for pin in suite.read(GOLD).variants:
        if pin.level in QUEUED:
            strengths = dict(Variant.parse(pin.variant).operators)
            assert (strengths["queue"] or 0) >= SIX, pin.variant


@pytest.mark.parametrize("pin", suite.read(GOLD).variants, ids=lambda pin: pin.variant)
def test_its_prompts_are_short_and_say_where_the_rest_stands(pin: suite.Pin) -> None:
    task = library.load(pin.variant).task
    assert len(task.prompt.split()) <= WORDS
    assert "docs/brief.md" in task.prompt
    assert all(f"`{field}`" in task.prompt for field in task.final)
    pages = task.world.layer.every_file
    assert not [each.path for each in pages if re.search(r"\w\.- [A-Z]", each.text)], "glued lines"


@pytest.mark.slow
@pytest.mark.parametrize("pin", suite.read(GOLD).variants, ids=lambda pin: pin.variant)
def test_each_has_what_an_agent_cannot_tell_the_use_of(pin: suite.Pin) -> None:
    world = library.load(pin.variant).task.world
    assert world.hooks
    assert world.mirror
    assert world.worktree.staged
    assert world.worktree.unstaged
    assert world.worktree.untracked
