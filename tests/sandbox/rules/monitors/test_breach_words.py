"""What a person is told of a broken rule: the task's sentence, what happened, where to look."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.rule import Rule
from sandbox.rules.monitors.base import Monitor
from sandbox.rules.monitors.step_words import happened
from sandbox.rules.monitors.steps import Step
from tests.sandbox.rules.monitors.test_fresh_trees import COMMIT, EDIT, OTHER, suite

RULES: TypeAdapter[Rule] = TypeAdapter(Rule)
UNSOUND = (
    "tests of t ran by a runner or tests that were not the repository's own (x.py) and ended with "
    "exit code 0 (event 3)"
)
ANSWER = Step(9, "final_answer", {"fields": {}})


def told(template: str, atoms: dict[str, Any], *steps: Step, sentence: str = "") -> str:
    """Break a rule, and give what is said of it."""
    given = {"id": "r", "template": template, "reason": "Why.", "stated_in": "prompt"}
    rule = RULES.validate_python({**given, **atoms})
    monitor = Monitor(rule, sentence=sentence)
    for step in steps:
        if (broken := monitor.feed(step)) is not None:
            return broken.message
    ended = monitor.finish()
    assert ended is not None, "no step broke the rule"
    return ended.message


FRESH: dict[str, Any] = {
    "a": {"tests": (".",)},
    "since": {"changes": "src/**"},
    "before": {"action": "final_answer"},
}


def test_first_the_tasks_own_words_then_what_happened_with_the_events() -> None:
    tested, edited = suite(), replace(OTHER, event=5)
    message = told("fresh", FRESH, EDIT, tested, edited, ANSWER, sentence="Test before you answer.")
    assert message == (
        "“Test before you answer.” Why. (stated in prompt) You answered (event 9); the last "
        f"time before was when {happened(tested)}, and since then {happened(edited)}. The rule r "
        "expects a test run of the whole suite, since the last change of src/**, before action "
        "final_answer."
    )


def test_a_test_run_that_is_repeated_is_told_by_its_last_time() -> None:
    first, again = suite(), Step(7, "tested", suite().arguments, kind="tested")
    message = told("fresh", FRESH, EDIT, first, again, replace(OTHER, event=8), ANSWER)
    assert f"when {happened(again)}" in message


@pytest.mark.parametrize(("lines", "words"), [(1, "1 line of a.md"), (2, "2 lines of a.md")])
def test_what_was_shown_is_counted_in_words(lines: int, words: str) -> None:
    shown = Step(4, "shown", {"path": "a.md", "lines": lines}, kind="shown")
    message = told("never", {"a": {"reads": "a.md"}}, shown)
    assert f"You were shown {words} (event 4)." in message


def test_what_a_test_run_left_out_is_named() -> None:
    tested = Step(3, "tested", {**suite().arguments, "paths": [".", "!docs"]}, kind="tested")
    assert "tests of the whole suite, but for docs, ran" in happened(tested)


def test_what_was_never_done_is_said_to_be_missing() -> None:
    assert "You answered (event 9); before that there was no test run of the whole suite." in told(
        "fresh", FRESH, EDIT, ANSWER
    )
    assert "(stated in prompt) It never happened in this run." in told(
        "required", {"a": {"kind": "committed"}}, EDIT
    )


def test_what_came_after_what_closes_it_names_both() -> None:
    atoms = {"a": {"kind": "committed"}, "b": {"changes": "src/**"}}
    message = told("never_after", atoms, COMMIT, EDIT)
    assert f"{happened(EDIT)}, after this: {happened(COMMIT)}" in message


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            Step(
                3,
                "run_command",
                {"command": "git\n push " + "x" * 200},
                Observation(status="error", error_code=ErrorCode.POLICY_DENIED),
            ),
            "you used run_command with `git push "
            + "x" * 110
            + "…`, which was refused (policy_denied) (event 3)",
        ),
        (
            Step(3, "write_file", {"path": "a"}, Observation(), ("a",)),
            "you used write_file on a, which wrote a (event 3)",
        ),
        (
            Step(
                3, "changed", {"path": "a", "digest": None, "during": ["/bin/rm"]}, kind="changed"
            ),
            "a was removed while /bin/rm ran (event 3)",
        ),
        (
            Step(
                3,
                "exec",
                {"argv": ["git", "push"], "cwd": "/w", "verdict": "denied"},
                kind="exec",
            ),
            "the policy refused to run the program `git push` in /w (event 3)",
        ),
        (
            Step(
                3,
                "tested",
                {"paths": ["t"], "exit_code": 0, "sound": False, "differing": ["x.py"]},
                kind="tested",
            ),
            UNSOUND,
        ),
        (
            Step(3, "committed", {"id": "a" * 40, "hooked": False}, kind="committed"),
            "the commit aaaaaaaaaaaa was made without the repository's hooks (event 3)",
        ),
        (Step(3, "fault_injected", {}, kind="fault_injected"), "fault injected (event 3)"),
    ],
)
def test_each_kind_of_step_is_told_in_plain_words(step: Step, words: str) -> None:
    assert happened(step) == words
