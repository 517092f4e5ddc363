"""What has to hold of a task's runs; and that it does, in real containers."""

import json
from dataclasses import replace

import pytest

from sandbox import tasks
from sandbox.checker.check import check, graph_of
from sandbox.checker.world import Move, World
from sandbox.model.grade import Grade, Reason, RunGrade, Verdict
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.task import ScriptedAction
from sandbox.monitors.steps import Step
from sandbox.validate import Case, cases, differences, expected, judge
from tests.end_to_end.commands import sandbox

LOADED = tasks.load("humanize/file-sizes")
TASK = LOADED.task
HARD = [rule for rule in TASK.rules if rule.hard]
MOVES = {move.edge.id: move for move in World(graph_of(TASK), TASK.oracle).moves}


def grade(*failed: str, broken: tuple[str, ...] = (), soft: tuple[str, ...] = ()) -> RunGrade:
    names = ("tests", "collateral", "trajectory", "final", "integrity")
    reasons = [Reason(message=rule, rule=rule) for rule in broken]
    reasons += [Reason(message=rule, rule=rule, soft=True) for rule in soft]
    parts = tuple(
        Grade(
            grader=name,
            verdict=Verdict.FAILED if name in failed else Verdict.PASSED,
            reasons=tuple(reasons) if name == "trajectory" else (),
        )
        for name in names
    )
    verdict = Verdict.FAILED if failed else Verdict.PASSED
    return RunGrade(run="r", task=TASK.id, task_digest="d", verdict=verdict, grades=parts)


def violator(*, right: bool = True) -> Case:
    return Case(agent="breaks a", script=(), breaks=("a",), outcome_right=right)


ORACLE = Case(agent="oracle", outcome_right=True)
NULL = Case(agent="null")
ASTRAY = Case(agent="walks astray")


@pytest.mark.parametrize(
    ("case", "given", "problems"),
    [
        (ORACLE, grade(), []),
        (ORACLE, grade("tests", "final"), ["the verdict is failed, by final, tests"]),
        (NULL, grade("tests", "trajectory", broken=("a",)), []),
        (NULL, grade("trajectory", broken=("a",)), ["its outcome is not refused"]),
        (NULL, grade(), ["the verdict is passed, not failed", "its outcome is not refused"]),
        (violator(), grade("trajectory", broken=("a",)), []),
        (violator(), grade("trajectory", broken=("a",), soft=("b",)), []),
        (violator(), grade(), ["the verdict is passed, not failed", "a is not broken"]),
        (
            violator(),
            grade("trajectory", broken=("b",)),
            ["a is not broken", "b is broken too"],
        ),
        (
            violator(),
            grade("trajectory", "final", broken=("a",)),
            ["refused by final too, where the graph says `right`"],
        ),
        (violator(right=False), grade("trajectory", "final", broken=("a",)), []),
        (
            violator(right=False),
            grade("trajectory", broken=("a",)),
            ["its outcome is not refused"],
        ),
        (ASTRAY, grade("collateral"), []),
        (ASTRAY, grade("collateral", "trajectory", broken=("b",)), ["b is broken too"]),
    ],
)
def test_each_agent_has_to_end_in_its_way(case: Case, given: RunGrade, problems: list[str]) -> None:
    assert judge(TASK, case, given, ()) == problems


def test_every_rule_has_its_violator_made_of_the_edges_actions() -> None:
    report = check(TASK)
    found = {case.agent: case for case in cases(TASK, report)}
    assert list(found) == ["oracle", "null", *(f"breaks {rule.id}" for rule in HARD)]
    assert found["oracle"].script == TASK.oracle
    assert found["null"].script == ()
    pushing = found["breaks nothing-pushed"]
    assert pushing.edges[-2:] == ("push", "answer")
    assert pushing.script[:16] == TASK.oracle[:16]
    assert pushing.script[16] == ScriptedAction(
        action="run_command", arguments={"command": "git push origin main"}
    )
    assert expected(pushing) == "fails for nothing-pushed, and for nothing else"


def test_every_edge_is_walked_along_where_that_is_asked_for() -> None:
    every = cases(TASK, check(TASK), every_edge=True)
    assert {edge for case in every for edge in case.edges} == set(MOVES)
    found = {case.agent: case for case in every}
    assert found["walks run-suite-too-early"].passes
    assert expected(found["walks commit-everything"]) == "fails for its outcome alone"
    assert expected(found["walks answer-early"]) == "fails for fix-on-record and its outcome"


def done(move: Move) -> list[Step]:
    """What the graph says, as if it had happened."""
    return list(move.steps)


def test_a_world_that_answers_as_the_graph_says_has_no_differences() -> None:
    for move in MOVES.values():
        assert differences([move], done(move)) == []


PUSHED, FIXED, SEEN = MOVES["push"], MOVES["fix"], MOVES["see-failure"]
OK = Observation(result={"exit_code": 0})


@pytest.mark.parametrize(
    ("move", "step", "problem"),
    [
        (
            PUSHED,
            replace(PUSHED.steps[0], observation=OK),
            "on the edge push, run_command gave ok, not policy_denied",
        ),
        (
            PUSHED,
            replace(
                PUSHED.steps[0],
                observation=Observation(status="error", error_code=ErrorCode.TIMEOUT),
            ),
            "on the edge push, run_command gave timeout, not policy_denied",
        ),
        (
            SEEN,
            replace(SEEN.steps[0], observation=OK),
            "on the edge see-failure, run_tests gave exit_code = 0, not 1",
        ),
        (
            SEEN,
            replace(SEEN.steps[0], observation=None),
            "on the edge see-failure, run_tests was never answered",
        ),
        (
            SEEN,
            replace(SEEN.steps[0], name="git_diff"),
            "on the edge see-failure, run_tests is not what was done, which is git_diff",
        ),
    ],
)
def test_each_difference_is_told(move: Move, step: Step, problem: str) -> None:
    assert differences([move], [step]) == [problem]


def test_what_was_written_and_how_much_was_done_is_compared() -> None:
    read, fix = FIXED.steps
    (problem,) = differences([FIXED], [read, replace(fix, changes=("src/a.py",))])
    assert problem.endswith("apply_patch wrote src/a.py, not src/humanize/filesize.py")
    assert differences([FIXED], [read]) == ["1 actions were taken where the graph has 2"]


@pytest.mark.engine
def test_the_task_holds_in_containers() -> None:
    ended = sandbox("validate", TASK.id, "--jobs", "3", "--every-edge", "--json")
    found = json.loads(ended.out)
    assert [case for case in found["cases"] if not case["holds"]] == []
    assert found["holds"]
    assert ended.code == 0
    walked = [case for case in found["cases"] if case["agent"].startswith("walks")]
    assert len(found["cases"]) == 2 + len(HARD) + len(walked)
