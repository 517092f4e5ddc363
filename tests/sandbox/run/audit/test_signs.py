"""Each sign warns where it should, and only there."""

import pytest
from pydantic import JsonValue

from sandbox.model.event import Entry, Event, Observed, Violation
from sandbox.model.grade import Grade, Reason, RunGrade
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.task import Task
from sandbox.model.verdict import Verdict
from sandbox.run.audit import choice_signs, path_signs, script_signs, target_signs
from sandbox.run.audit.path_signs import Judged
from sandbox.tasks import library
from tests.sandbox.worlds import task

GRADERS = ("tests", "collateral", "trajectory", "final", "integrity")


def judged(
    *refused: str,
    agent: str = "a",
    mode: str = "raw",
    events: tuple[Event, ...] = (),
    facet: str = "f",
    operators: tuple[str, ...] = (),
) -> Judged:
    grades = tuple(
        Grade(
            grader=name,
            verdict=Verdict.FAILED if name in refused else Verdict.PASSED,
            reasons=(Reason(message="no"),) if name in refused else (),
        )
        for name in GRADERS
    )
    verdict = Verdict.FAILED if refused else Verdict.PASSED
    grade = RunGrade(run="r", task="t", task_digest="d", verdict=verdict, grades=grades)
    entries = tuple(
        Entry(
            sequence=number,
            elapsed=0,
            wall_time="",
            action_id=None,
            event=event,
            previous="",
            digest="",
        )
        for number, event in enumerate(events)
    )
    return Judged(agent, mode, grade, entries, facet, operators)


def error(code: ErrorCode) -> Observed:
    return Observed(name="x", observation=Observation(status="error", error_code=code))


def broken(rule: str, *, hard: bool = True) -> Violation:
    return Violation(rule=rule, message="", hard=hard)


@pytest.mark.parametrize(
    ("right", "by_path", "wrong", "status"),
    [
        (9, 0, 1, "warning"),
        (5, 0, 5, "clear"),
        (9, 1, 1, "clear"),
        (0, 0, 10, "clear"),
        (3, 0, 1, "unknown"),
    ],
)
def test_right_outcomes_whose_paths_never_fail(
    right: int, by_path: int, wrong: int, status: str
) -> None:
    runs = [
        *[judged()] * right,
        *[judged("trajectory")] * by_path,
        *[judged("tests", "trajectory")] * wrong,
    ]
    assert path_signs.lucky(runs).status == status


@pytest.mark.parametrize(
    ("raw", "minimal", "status"),
    [((1, 3), (4, 0), "warning"), ((1, 3), (3, 1), "clear"), ((4, 0), (4, 0), "clear")],
)
def test_a_harness_that_does_it_all(
    raw: tuple[int, int], minimal: tuple[int, int], status: str
) -> None:
    runs = [*[judged()] * raw[0], *[judged("tests")] * raw[1]]
    runs += [
        *[judged(mode="minimal")] * minimal[0],
        *[judged("tests", mode="minimal")] * minimal[1],
    ]
    found = path_signs.gain(runs)
    assert found.status == status
    assert found.details == (f"a: raw {raw[0]}/{sum(raw)}, minimal {minimal[0]}/{sum(minimal)}",)


def test_a_gain_needs_both_modes_of_one_agent() -> None:
    assert path_signs.gain([judged(), judged(agent="b", mode="minimal")]).status == "unknown"


@pytest.mark.parametrize(
    ("events", "refused", "first"),
    [
        ((error(ErrorCode.BAD_ARGUMENTS), broken("r")), ("trajectory",), "spelling"),
        ((broken("r"), error(ErrorCode.UNKNOWN_TOOL)), ("trajectory",), "rule r"),
        ((broken("soft", hard=False), error(ErrorCode.NOT_FOUND)), ("tests",), "tests"),
        ((), ("trajectory",), "trajectory"),
        ((), ("trajectory", "final"), "final"),
    ],
)
def test_what_goes_wrong_first(
    events: tuple[Event, ...], refused: tuple[str, ...], first: str
) -> None:
    assert path_signs.first_fault(judged(*refused, events=events)) == first


def test_failures_that_are_mostly_spelling() -> None:
    misspelt = judged("final", events=(error(ErrorCode.BAD_REQUEST),))
    assert path_signs.first_faults([misspelt] * 3 + [judged("tests")] * 2).status == "warning"
    assert path_signs.first_faults([misspelt] * 2 + [judged("tests")] * 3).status == "clear"
    assert path_signs.first_faults([misspelt] * 4).status == "unknown"
    assert path_signs.first_faults([judged()] * 9).status == "unknown", "a pass is no failure"


def solved_by(*actions: str) -> Task:
    oracle: list[JsonValue] = [{"action": action, "arguments": {}} for action in actions]
    return task(oracle=oracle)


def test_one_sequence_for_most_tasks() -> None:
    same, other = solved_by("a", "a", "b"), solved_by("b", "a")
    assert script_signs.sequence(same) == ("a", "b")
    assert script_signs.sequences([same, solved_by("a", "b"), other]).status == "warning"
    assert script_signs.sequences([same, other, solved_by("c")]).status == "clear"
    assert script_signs.sequences([same, same]).status == "unknown"


def test_a_blind_agent_knows_the_prompt_and_nothing_else() -> None:
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n LIMIT = 7\n-old line\n+new line\n"
    fields: dict[str, JsonValue] = {"count": 41, "limit": 7, "name": "seen", "told": "LIMIT"}
    seeing = task(
        prompt="Set LIMIT = 7 right.",
        final={
            "count": {"type": "integer"},
            "limit": {"type": "integer"},
            "name": {"type": "string"},
            "told": {"type": "string"},
        },
        oracle=[
            {"action": "apply_patch", "arguments": {"patch": patch}},
            {"action": "final_answer", "arguments": {"fields": fields}},
        ],
    )
    edit, final = script_signs.blind(seeing)
    assert edit.arguments["patch"] == patch.replace("-old line", "-masked")
    masked = {"count": 0, "limit": 7, "name": "masked", "told": "LIMIT"}
    assert final.arguments["fields"] == masked


def graphed(*edges: dict[str, JsonValue]) -> Task:
    """A task whose run ends well, or badly, at the ends of these edges."""
    graph: JsonValue = {
        "start": "begin",
        "states": {"begin": {}, "good": {"right": True}, "bad": {"right": False}},
        "edges": list(edges),
    }
    return task(graph=graph)


def edge(name: str, to: str, **more: JsonValue) -> dict[str, JsonValue]:
    return {"id": name, "from": "begin", "to": to, "ends": "answer", **more}


GOOD, BAD = edge("solve", "good"), edge("fail", "bad")
STOP = edge("give-up", "bad", ends="stop")
RETRY: dict[str, JsonValue] = {"id": "again", "from": "begin", "kind": "retry"}


@pytest.mark.parametrize(
    ("edges", "fatal", "deciding"),
    [
        ((GOOD,), (), ()),
        ((GOOD, BAD), ("fail",), ()),
        ((GOOD, STOP), ("give-up",), ("begin",)),
        ((GOOD, RETRY), (), ()),
        ((GOOD, RETRY, STOP), ("give-up",), ("begin",)),
        ((GOOD, edge("fall-back", "bad", kind="fallback")), ("fall-back",), ("begin",)),
    ],
)
def test_steps_that_matter(
    edges: tuple[dict[str, JsonValue], ...], fatal: tuple[str, ...], deciding: tuple[str, ...]
) -> None:
    product = choice_signs.product(graphed(*edges))
    assert product is not None
    assert choice_signs.fatal_moves(product) == fatal
    assert choice_signs.deciding(product) == deciding
    assert choice_signs.forbidden([("t", product)]).status == ("clear" if fatal else "warning")
    assert choice_signs.decisions([("t", product)]).status == ("clear" if deciding else "warning")


def test_every_task_of_the_project_has_something_forbidden() -> None:
    for name in library.names():
        product = choice_signs.product(library.load(name).task)
        assert product is not None
        assert choice_signs.fatal_moves(product)


def facet(passed: int, failed: int, name: str = "f", mode: str = "minimal") -> list[Judged]:
    right, wrong = judged(facet=name, mode=mode), judged("tests", facet=name, mode=mode)
    return [*[right] * passed, *[wrong] * failed]


ORACLES = [judged(agent="oracle")] * 2


@pytest.mark.parametrize(
    ("runs", "oracles", "status"),
    [
        (facet(2, 3), ORACLES, "warning"),
        (facet(1, 4), ORACLES, "clear"),
        (facet(1, 4) + facet(4, 1, "g"), ORACLES, "warning"),
        (facet(1, 4), [*ORACLES, judged("tests", agent="oracle")], "warning"),
        (facet(1, 4), [], "unknown"),
        (facet(4, 0), ORACLES, "unknown"),
        (facet(9, 0, mode="raw"), ORACLES, "unknown"),
    ],
)
def test_a_facet_of_which_an_agent_passes_too_much(
    runs: list[Judged], oracles: list[Judged], status: str
) -> None:
    assert target_signs.target(runs, oracles).status == status


def test_the_target_tells_what_it_rests_on() -> None:
    found = target_signs.target([*facet(2, 3), *facet(1, 0, "g")], ORACLES)
    assert found.value == (
        "1 of 1 facets too easy for an agent, oracles 2/2; 1 with fewer than 5 runs"
    )
    assert found.details == ("f: a 2/5 passed", "g: a 1/1 passed")


def test_operators_that_cost_nobody_anything() -> None:
    idle, dear = ("scarcity.5", "flood.1"), ("scarcity.1", "queue.2")
    runs = [*[judged(operators=idle)] * 5, *[judged("final", operators=dear)] * 5]
    found = target_signs.costless(runs)
    assert (found.status, found.value) == ("warning", "1 of 3 operators: flood")
    assert found.details == ("queue: 0/5 passed", "scarcity: 5/10 passed", "flood: 5/5 passed")
    assert target_signs.costless(runs[5:]).status == "clear"
    assert target_signs.costless(runs[:4]).status == "unknown"
