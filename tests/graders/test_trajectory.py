import pytest

from graders import trajectory as grader
from sandbox.model.atom import Atom, Milestone
from sandbox.model.event import ActionTaken, Event, Observed, RunEnded
from sandbox.model.observation import Observation
from sandbox.model.rule import Required
from sandbox.model.verdict import Verdict
from tests.graders.evidence import evidence, task, trace

ENDED = RunEnded(reason="agent_exited", turns=0, seconds=0.0)


def required(name: str, *, hard: bool) -> Required:
    return Required(
        id=name,
        template="required",
        hard=hard,
        a=Atom(action=name.replace("-", "_")),
        reason="It helps.",
        stated_in="prompt",
    )


def test_a_broken_rule_is_named() -> None:
    assert grader.grade(task(), evidence()).verdict is Verdict.PASSED
    grade = grader.grade(task(), evidence(entries=trace(ENDED)))
    assert grade.verdict is Verdict.FAILED
    assert grade.reasons[0].rule == "test-first"
    assert grade.facts == {"rules": 1, "broken": 1, "soft_broken": 0}


def test_a_soft_rule_is_told_and_fails_nobody() -> None:
    rules = (required("git-diff", hard=False),)
    grade = grader.grade(task(rules=rules), evidence())
    assert grade.verdict is Verdict.PASSED
    assert [(reason.rule, reason.soft) for reason in grade.reasons] == [("git-diff", True)]
    assert grade.facts["soft_broken"] == 1
    assert grade.facts["broken"] == 0


def test_a_soft_rule_beside_a_hard_one_saves_nobody() -> None:
    rules = (required("git-diff", hard=False), required("read-file", hard=True))
    grade = grader.grade(task(rules=rules), evidence())
    assert grade.verdict is Verdict.FAILED
    assert {reason.rule: reason.soft for reason in grade.reasons} == {
        "git-diff": True,
        "read-file": False,
    }


def taken(*names: str) -> tuple[Event, ...]:
    return tuple(
        event
        for name in names
        for event in (
            ActionTaken(name=name, arguments={}),
            Observed(name=name, observation=Observation()),
        )
    )


@pytest.mark.parametrize(
    ("names", "reached", "peak", "final"),
    [
        ((), 0, 0.0, 0.0),
        (("fix",), 1, 0.75, 0.75),
        (("fix", "undo"), 0, 0.75, 0.0),
        (("fix", "undo", "answer"), 1, 0.75, 0.25),
        (("fix", "answer"), 2, 1.0, 1.0),
    ],
)
def test_progress_is_a_fact(
    names: tuple[str, ...], reached: int, peak: float, final: float
) -> None:
    milestones = (
        Milestone(id="fixed", reached=Atom(action="fix"), undone=Atom(action="undo"), weight=3),
        Milestone(id="answered", reached=Atom(action="answer")),
    )
    entries = trace(*taken(*names), ENDED)
    grade = grader.grade(task(rules=(), milestones=milestones), evidence(entries=entries))
    assert grade.verdict is Verdict.PASSED
    assert grade.facts == {
        "rules": 0,
        "broken": 0,
        "soft_broken": 0,
        "milestones": 2,
        "reached": reached,
        "progress_peak": peak,
        "progress_final": final,
    }
