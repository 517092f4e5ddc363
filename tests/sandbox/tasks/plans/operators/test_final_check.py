"""Final check: one run more on every known way, and to leave it out is a trap."""

import pytest

from sandbox.rules.checker.check import check
from sandbox.tasks import library

FITTING = ("cjson/planes", "humanize/file-sizes", "pycparser/debug-trace", "qs/guard-once")


@pytest.mark.parametrize("name", FITTING)
def test_every_known_way_has_the_run_before_its_answer(name: str) -> None:
    base, task = library.load(name).task, library.load(f"{name}+final-check").task
    for before, after in (
        (base.oracle, task.oracle),
        *((base.other_oracles[each], task.other_oracles[each]) for each in base.other_oracles),
    ):
        assert after[:-2] == before[:-1]
        assert (after[-2].action, after[-1]) == ("run_tests", before[-1])


@pytest.mark.parametrize("name", FITTING)
def test_without_the_run_the_old_way_breaks_the_rule_alone(name: str) -> None:
    report = check(library.load(f"{name}+final-check").task)
    assert report.breaks["answer-unchecked"] == ("final-check",)
    (witness,) = (each for each in report.witnesses if each.rule == "final-check")
    assert witness.path is not None
    assert witness.path[-1] == "answer-unchecked"
    assert report.shortest is not None
    assert report.shortest[-2:] == ("final-check", "answer")
