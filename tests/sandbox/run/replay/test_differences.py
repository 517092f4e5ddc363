"""Two traces of the same actions: what is by chance is no difference, what happened is."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from sandbox.agents.base import Garbage
from sandbox.model import trace as traces
from sandbox.model.action import Request
from sandbox.model.decision import Answer, Question
from sandbox.model.event import ActionTaken, ApprovalDecided, Entry, Event, Observed, RunEnded
from sandbox.model.fact import Changed, Committed, RefMoved
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.trace import TraceWriter
from sandbox.model.usage import ModelUsage
from sandbox.run.loop import UNKNOWN
from sandbox.run.replay.differences import differences
from sandbox.run.replay.recorded import RecordedApprover, said
from tests.sandbox.cli.pages.stored import ALLOWED, executed
from tests.sandbox.runs import STARTED

ACTION = ActionTaken(name="run_command", arguments={"command": "make"}, decision=ALLOWED)


def trace(folder: Path, *events: Event) -> Sequence[Entry]:
    path = folder / f"{len(list(folder.iterdir()))}.jsonl"
    with TraceWriter(path) as writer:
        for event in (STARTED, *events):
            writer.append(event, "1")
    return traces.read(path).entries


def observed(**result: int | float | str) -> Observed:
    return Observed(name="run_command", observation=Observation(result={**result}))


def committed(name: str, tree: str = "t", parent: str = "0") -> Committed:
    return Committed(
        ref="refs/heads/main",
        id=name,
        tree=tree,
        parents=(parent,),
        paths=("a",),
        hooks=(),
        hooked=True,
    )


def changed(digest: str) -> Changed:
    return Changed(path="a", digest=digest, before=None, during=("make",))


def test_numbers_times_words_and_ids_of_commits_are_by_chance(tmp_path: Path) -> None:
    then = trace(
        tmp_path,
        ACTION,
        executed(["make"], pid=7, began=1.0, duration=0.5),
        committed("aaa"),
        RefMoved(ref="refs/heads/main", before="0", after="aaa"),
        observed(exit_code=0, stdout="in 0.1 s", duration_seconds=0.1),
    )
    now = trace(
        tmp_path,
        ACTION,
        committed("bbb"),
        RefMoved(ref="refs/heads/main", before="0", after="bbb"),
        executed(["make"], pid=9, began=2.0, duration=0.7),
        observed(exit_code=0, stdout="in 0.2 s", duration_seconds=0.2),
    )
    assert differences(then, now) == []


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ([changed("x")], [changed("y")]),
        ([changed("x")], []),
        ([changed("x")], [changed("x"), changed("x")]),
        ([committed("a", tree="x")], [committed("a", tree="y")]),
        ([committed("a"), committed("b", parent="a")], [committed("a"), committed("b")]),
        ([executed(["make"])], [executed(["make", "-j"])]),
        ([executed(["make"])], [executed(["make"], exit_code=1)]),
        ([observed(exit_code=0)], [observed(exit_code=1)]),
        (
            [observed()],
            [
                Observed(
                    name="run_command", observation=Observation(error_code=ErrorCode.POLICY_DENIED)
                )
            ],
        ),
        ([], [ACTION]),
    ],
)
def test_what_happened_otherwise_is_a_difference(
    tmp_path: Path, then: list[Event], now: list[Event]
) -> None:
    one, other = trace(tmp_path, ACTION, *then), trace(tmp_path, ACTION, *now)
    (found,) = differences(one, other)
    assert found.action == 1 + (now == [ACTION])
    assert (found.then, found.now) != ((), ())
    (back,) = differences(other, one)
    assert (back.then, back.now) == (found.now, found.then)


def test_an_action_that_the_end_cut_off_is_not_compared(tmp_path: Path) -> None:
    begin = (ACTION, observed(exit_code=0), ACTION)
    over = RunEnded(reason="time_limit", turns=2, seconds=1.0)
    then = trace(tmp_path, *begin, executed(["make"]), over)
    now = trace(tmp_path, *begin, changed("x"), observed(exit_code=0), over)
    assert differences(then, now) == []
    assert [each.action for each in differences(now, then)] == [2], "then it had come to its end"


def test_answers_are_given_again_in_their_order(tmp_path: Path) -> None:
    question = Question(scope="network", command="npm ci")
    other = Question(scope="network", command="npm i x")
    entries = trace(
        tmp_path,
        ApprovalDecided(question=question, answer=Answer(approved=True)),
        ApprovalDecided(question=question, answer=Answer(approved=True), granted_at=1),
        ApprovalDecided(question=question, answer=Answer(approved=False, reason="not again")),
    )
    approver = RecordedApprover(entries)
    assert not approver.answer(other).approved
    assert approver.answer(question).approved
    assert approver.answer(question).reason == "not again"
    assert "Nobody was asked this" in approver.answer(question).reason


def test_what_was_said_is_said_again_with_its_ids_usage_and_garbage(tmp_path: Path) -> None:
    garbage = ActionTaken(name=UNKNOWN, arguments={"line": "hello"})
    usage = ModelUsage(input_tokens=7)
    first, again = said(
        trace(tmp_path, garbage, ACTION.model_copy(update={"usage": usage})), UNKNOWN
    )
    assert isinstance(first, Garbage)
    assert (first.excerpt, first.id) == ("hello", "1")
    assert again == Request(
        id="1", action="run_command", arguments={"command": "make"}, usage=usage
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/tmp/cc1234.s", "/tmp/ccabcd.s", True),
        ("-o=/tmp/a/x", "-o=/tmp/b/x", True),
        ("a/tmp/one", "a/tmp/two", False),
        ("/var/tmp/one", "/var/tmp/two", False),
        ("/tmp/a/one", "/tmp/a/two", False),
    ],
)
def test_only_names_below_tmp_itself_are_drawn(
    tmp_path: Path, one: str, other: str, same: bool
) -> None:
    found = differences(
        trace(tmp_path, ACTION, executed(["cc", one])),
        trace(tmp_path, ACTION, executed(["cc", other])),
    )
    assert (found == []) is same
