from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.model.event import ActionTaken
from sandbox.model.observation import ErrorCode
from sandbox.model.rule import Atom, Never, Precedes, Required, Rule
from sandbox.rules.monitors.steps import steps
from sandbox.rules.monitors.trajectory import check, monitor
from tests.sandbox.rules.monitors.runs import entries, run, step

WHY: dict[str, Any] = {"reason": "Untested work is not done.", "stated_in": "AGENTS.md"}

TESTS = Atom(action="run_tests", status="ok", result={"exit_code": 0})
EDIT = Atom(changes="src/**")
FINAL = Atom(action="final_answer")


def required(a: Atom) -> Required:
    return Required(id="r", template="required", a=a, **WHY)


def never(a: Atom) -> Never:
    return Never(id="n", template="never", a=a, **WHY)


def precedes(a: Atom, b: Atom) -> Precedes:
    return Precedes(id="p", template="precedes", a=a, b=b, **WHY)


def test_a_required_step_that_is_missing_is_told_with_reason_and_place() -> None:
    (broken,) = check([required(TESTS)], run(step("1", "run_tests", result={"exit_code": 1})))
    assert broken.rule == "r"
    assert broken.event is None
    assert "action run_tests with status ok with result exit_code = 0" in broken.message
    assert "Untested work is not done. (stated in AGENTS.md)" in broken.message


def test_a_required_step_that_is_there_is_enough_once() -> None:
    good, bad = ({"exit_code": code} for code in (0, 1))
    trace = run(step("1", "run_tests", result=good), step("2", "run_tests", result=bad))
    assert check([required(TESTS)], trace) == []


def test_never_names_the_first_step_that_breaks_it() -> None:
    atom = Atom(action="run_command", arguments={"command": r"\bgit stash\b"})
    trace = run(
        step("1", "run_command", command="ls"),
        step("2", "run_command", command="cd src && git stash"),
        step("3", "run_command", command="git stash"),
    )
    (broken,) = check([never(atom)], trace)
    assert broken.event == 2
    assert "You used run_command with `cd src && git stash` (event 2)." in broken.message


def test_precedes_wants_the_first_before_every_second() -> None:
    edit = step("1", "write_file", changes=("src/a.py",), path="src/a.py")
    tests = step("2", "run_tests", result={"exit_code": 0})
    final = step("3", "final_answer")
    rule = precedes(TESTS, FINAL)
    assert check([rule], run(edit, tests, final)) == []
    (broken,) = check([rule], run(edit, final, tests))
    assert broken.event == 3
    assert "You answered (event 3); before that there was no action run_tests" in broken.message
    assert check([rule], run(edit)) == []


def test_a_step_does_not_precede_itself() -> None:
    atom = Atom(action="run_tests")
    assert len(check([precedes(atom, atom)], run(step("1", "run_tests")))) == 1


@pytest.mark.parametrize(
    ("atom", "matches"),
    [
        (Atom(), True),
        (Atom(action="run_*"), True),
        (Atom(action="read_*"), False),
        (Atom(arguments={"command": "^make"}), True),
        (Atom(arguments={"timeout_seconds": "^5$"}), True),
        (Atom(arguments={"cwd": ""}), False),
        (Atom(status="error"), True),
        (Atom(status="ok"), False),
        (Atom(error_code="timeout"), True),
        (Atom(error_code="t*t"), True),
        (Atom(error_code="not_found"), False),
        (Atom(result={"exit_code": 1}), True),
        (Atom(result={"exit_code": True}), False),
        (Atom(result={"exit_code": 1.0}), False),
        (Atom(result={"missing": None}), False),
        (Atom(changes="src/**/*.py"), True),
        (Atom(changes="src/*.py"), False),
        (Atom(action="run_command", status="ok"), False),
    ],
)
def test_all_fields_of_an_atom_must_hold(atom: Atom, matches: bool) -> None:
    trace = run(
        step(
            "1",
            "run_command",
            error=ErrorCode.TIMEOUT,
            result={"exit_code": 1},
            changes=("src/deep/a.py",),
            command="make all",
            timeout_seconds=5,
        )
    )
    assert bool(check([never(atom)], trace)) is matches


def test_an_action_that_was_never_answered_is_a_step_without_a_result() -> None:
    trace = entries(("1", ActionTaken(name="run_tests", arguments={})))
    assert len(steps(trace)) == 1
    assert len(check([never(Atom(action="run_tests"))], trace)) == 1
    assert check([never(Atom(action="run_tests", status="ok"))], trace) == []


def test_an_id_that_is_used_again_is_another_step() -> None:
    assert len(steps(run(step("1", "run_tests"), step("1", "final_answer")))) == 2


NAMES = st.sampled_from(["read_file", "run_tests", "final_answer"])


@given(st.lists(NAMES), NAMES, NAMES)
def test_each_template_is_what_it_says(names: list[str], a: str, b: str) -> None:
    trace = run(*(step(str(number), name) for number, name in enumerate(names)))
    one, other = Atom(action=a), Atom(action=b)

    def holds(rule: Rule) -> bool:
        return not check([rule], trace)

    assert holds(required(one)) is (a in names)
    assert holds(never(one)) is (a not in names)
    assert holds(precedes(one, other)) is all(a in names[:i] for i, n in enumerate(names) if n == b)


@given(st.lists(NAMES))
def test_online_and_afterwards_are_the_same(names: list[str]) -> None:
    rules: list[Any] = [required(TESTS), never(FINAL), precedes(Atom(action="read_file"), FINAL)]
    trace = run(*(step(str(number), name) for number, name in enumerate(names)))
    online = []
    watching = [monitor(rule) for rule in rules]
    for each in steps(trace):
        online += [watcher.feed(each) for watcher in watching]
    online += [watcher.finish() for watcher in watching]
    assert [broken for broken in online if broken] == check(rules, trace)
