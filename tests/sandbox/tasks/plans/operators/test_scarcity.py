"""Scarcity: the known ways fit into the count, and one run more does not."""

import pytest

from sandbox.model.rule import AtMost
from sandbox.model.task import Task
from sandbox.rules.checker.check import check
from sandbox.tasks import library


def bound(task: Task, rule_id: str = "tests-are-scarce") -> AtMost:
    (rule,) = (rule for rule in task.rules if rule.id == rule_id)
    assert isinstance(rule, AtMost)
    return rule


def test_at_the_strongest_the_known_ways_just_fit() -> None:
    """Numbers of what was run in containers, runs by `run_command` included."""
    counts = {
        "django/negative-durations": 4,
        "humanize/file-sizes": 3,
        "humanize/file-sizes+final-check": 4,
        "inflection/house-terms": 2,
        "qs/guard-once": 4,
    }
    for name, most in counts.items():
        task = library.load(f"{name}+scarcity.5").task
        assert bound(task).n == most
        assert f"at most {most} times in all" in task.prompt


def test_each_strength_leaves_one_run_less() -> None:
    name = "humanize/file-sizes+scarcity.{}"
    counts = [bound(library.load(name.format(strength)).task).n for strength in range(1, 6)]
    assert counts == sorted(set(counts), reverse=True)
    assert counts[0] - counts[-1] == 4


@pytest.mark.parametrize("strength", [1, 5])
def test_one_run_too_many_is_what_breaks_it(strength: int) -> None:
    task = library.load(f"qs/guard-once+scarcity.{strength}").task
    report = check(task)
    (witness,) = (each for each in report.witnesses if each.rule == "tests-are-scarce")
    assert witness.path is not None
    assert "run-tests-too-often" in witness.path
    assert check(library.load("qs/guard-once").task).pattern != report.pattern


@pytest.mark.parametrize(
    ("name", "rule", "most", "says"),
    [
        ("minimist/install-with-approval", "approvals-are-scarce", 2, "at most 2 times in all."),
        ("minimist/refresh-dependencies", "approvals-are-scarce", 1, "at most once in all."),
        ("inflection/last-word", "questions-are-scarce", 2, "ask the user at most 2 times in all."),
    ],
)
def test_who_is_asked_is_asked_no_more_than_the_known_ways_need(
    name: str, rule: str, most: int, says: str
) -> None:
    task = library.load(f"{name}+scarcity.5").task
    assert bound(task, rule).n == most
    assert says in task.prompt
    roomy = bound(library.load(f"{name}+scarcity.2").task, rule)
    assert (roomy.n, roomy.tells) == (most + 3, rule.partition("-")[0])


@pytest.mark.parametrize("name", ["humanize/file-sizes", "qs/guard-once"])
def test_who_need_not_be_asked_is_not_counted(name: str) -> None:
    task = library.load(f"{name}+scarcity.5").task
    assert [rule.id for rule in task.rules if rule.id.endswith("-are-scarce")] == [
        "tests-are-scarce"
    ]


def test_what_the_agent_is_told_is_where_the_rule_says() -> None:
    task = library.load("qs/guard-once+scarcity").task
    says = bound(task).says
    assert says is not None
    assert says in task.prompt
    assert ("rule tests-are-scarce",) in {one.facts for one in task.statements if one.says == says}
