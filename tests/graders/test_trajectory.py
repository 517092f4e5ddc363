from graders import trajectory as grader
from sandbox.model.event import RunEnded
from sandbox.model.grade import Verdict
from tests.graders.evidence import evidence, task, trace


def test_a_broken_rule_is_named() -> None:
    assert grader.grade(task(), evidence()).verdict is Verdict.PASSED
    ended = RunEnded(reason="agent_exited", turns=0, seconds=0.0)
    grade = grader.grade(task(), evidence(entries=trace(ended)))
    assert grade.verdict is Verdict.FAILED
    assert grade.reasons[0].rule == "test-first"
    assert grade.facts == {"rules": 1, "broken": 1, "soft_broken": 0}
