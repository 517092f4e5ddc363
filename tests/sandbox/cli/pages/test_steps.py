"""A trace as steps: nothing is lost, and what went wrong is seen."""

from pathlib import Path

from sandbox.cli.pages.steps import NOTES, steps
from sandbox.model import trace as traces
from sandbox.model.event import ActionTaken, Entry, Event, Observed, Violation
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.trace import TraceWriter
from tests.sandbox.cli.pages.stored import ALLOWED, events, executed
from tests.sandbox.runs import STARTED


def read(tmp_path: Path, *told: tuple[Event, str | None]) -> tuple[Entry, ...]:
    with TraceWriter(tmp_path / "trace.jsonl") as trace:
        for event, action in ((STARTED, None), *told):
            trace.append(event, action)
    return traces.read(tmp_path / "trace.jsonl").entries


def test_each_event_belongs_to_its_action_and_none_is_lost(tmp_path: Path) -> None:
    entries = read(tmp_path, *events()[1:])
    found = steps(entries)
    assert [(step.name, step.number) for step in found] == [
        ("", 0),
        ("run_command", 1),
        ("write_file", 2),
        ("", 2),
    ]
    told = [note.sequence for step in found for note in step.notes]
    told += [step.sequence for step in found if step.name]
    told += [step.observed for step in found if step.observed is not None]
    assert sorted(told) == [entry.sequence for entry in entries]


def test_what_was_reached_and_broken_stands_beside_its_step(tmp_path: Path) -> None:
    _, first, second, _ = steps(read(tmp_path, *events()[1:]))
    assert [mark.kind for mark in first.marks] == ["milestone"]
    assert (first.tone, second.tone) == ("", "bad")
    assert second.marks[0].text == "hello"


def test_a_refused_action_is_marked(tmp_path: Path) -> None:
    refused = Observation(status="error", error_code=ErrorCode.POLICY_DENIED, message="no")
    _, step = steps(
        read(
            tmp_path,
            (ActionTaken(name="run_command", arguments={"command": "rm x"}), "1"),
            (Observed(name="run_command", observation=refused), "1"),
        )
    )
    assert (step.tone, step.status, step.message) == ("bad", "policy_denied", "no")
    assert step.decision == "not understood"


def test_of_many_events_the_first_and_the_bad_are_shown(tmp_path: Path) -> None:
    many: list[tuple[Event, str | None]] = [
        (executed([f"program-{number}"]), "1") for number in range(NOTES + 50)
    ]
    _, step = steps(
        read(
            tmp_path,
            (ActionTaken(name="run_command", arguments={}, decision=ALLOWED), "1"),
            *many,
            (Violation(rule="r", message="m"), "1"),
        )
    )
    assert len(step.notes) == NOTES + 1
    assert (step.left_out, step.notes[-1].kind) == (50, "violation")
