"""Execs as events: tied to their action, in order, bounded."""

import time

from sandbox.model.event import ExecsLost, Executed
from sandbox.model.session import EXECS_TOLD, Exec, ExecEnd, ExecOutcome
from sandbox.run.actions.exec_events import ARGUMENTS_LENGTH, Executions


def exec_of(number: int, tag: str = "a1", *arguments: bytes, problem: int = 0) -> Exec:
    return Exec(
        number=number,
        tag=tag,
        program=b"./caf\xe9",
        resolved=b"/bin/caf\xe9",
        arguments=arguments,
        argument_count=len(arguments),
        truncated=False,
        cwd=b"/",
        pid=number,
        parent=1,
        uid=10001,
        held=False,
        first=number == 1,
        problem=problem,
    )


def end_of(outcome: ExecOutcome, code: int | None = None) -> ExecEnd:
    return ExecEnd(outcome, code, None, 0.5)


def executed(executions: Executions, action: str = "") -> list[Executed]:
    return [event for event, _ in executions.take(action) if isinstance(event, Executed)]


def test_what_is_not_text_is_written_as_text() -> None:
    executions = Executions()
    executions.seen(exec_of(1, "a1", b"\xff", b"\\"))
    (event,) = executed(executions)
    assert (event.program, event.path, event.argv) == (
        r"./caf\xe9",
        r"/bin/caf\xe9",
        (r"\xff", "\\\\"),
    )
    assert (event.exit_code, event.duration, event.truncated) == (None, None, False)


def test_when_each_began_is_counted_from_the_runs_start() -> None:
    executions = Executions(started=time.monotonic() - 100)
    for number in (1, 2):
        executions.seen(exec_of(number))
    first, second = (event.began for event in executed(executions))
    assert first is not None
    assert second is not None
    assert 100 <= first <= second < 200


def test_every_outcome_has_its_verdict() -> None:
    executions = Executions()
    for number, outcome in enumerate(ExecOutcome):
        executions.seen(seen := exec_of(number))
        executions.ended(seen, end_of(outcome, 3 if outcome is ExecOutcome.EXITED else None))
    executions.seen(exec_of(99, problem=13))
    verdicts = dict(zip([*ExecOutcome, None], executed(executions), strict=True))
    assert verdicts[ExecOutcome.EXITED].exit_code == 3
    found = {outcome: event.verdict for outcome, event in verdicts.items()}
    assert found == {
        ExecOutcome.EXITED: "allowed",
        ExecOutcome.UNKNOWN: "allowed",
        ExecOutcome.REPLACED: "allowed",
        ExecOutcome.FAILED: "allowed",
        ExecOutcome.REFUSED: "denied",
        ExecOutcome.MISMATCH: "mismatch",
        ExecOutcome.GONE: "denied",
        None: "unreadable",
    }


def test_each_belongs_to_the_action_that_started_it() -> None:
    executions = Executions()
    for number, tag in enumerate(["a1", "a2", "a1", ""], 1):
        executions.seen(exec_of(number, tag))
    taken = [(event.pid, tag) for event, tag in executions.take() if isinstance(event, Executed)]
    assert taken == [(1, "a1"), (2, "a2"), (3, "a1"), (4, None)], "in the order of the run"
    assert executions.take() == []


def test_an_end_that_comes_too_late_is_forgotten() -> None:
    executions = Executions()
    executions.seen(seen := exec_of(1))
    assert executed(executions)[0].duration is None
    executions.ended(seen, end_of(ExecOutcome.EXITED, 0))
    assert executions.take() == []


def test_only_the_harnesss_own_program_is_marked() -> None:
    executions = Executions()
    executions.seen(exec_of(1))
    executions.seen(exec_of(2))
    assert [event.by_harness for event in executed(executions, "git_diff")] == [True, False]
    executions.seen(exec_of(1))
    assert not executed(executions, "run_command")[0].by_harness


def test_too_many_are_counted_and_too_long_ones_cut() -> None:
    executions = Executions()
    executions.seen(exec_of(0, "a1", b"x" * ARGUMENTS_LENGTH, b"y"))
    for number in range(EXECS_TOLD):
        executions.seen(exec_of(number))
    executions.lost("a1", 4)
    events = [event for event, _ in executions.take()]
    assert events[-1] == ExecsLost(count=5)
    assert len(events) == EXECS_TOLD + 1
    assert isinstance(events[0], Executed)
    assert events[0].truncated
    assert sum(map(len, events[0].argv)) == ARGUMENTS_LENGTH


def test_what_was_lost_sight_of_is_told_apart() -> None:
    executions = Executions()
    executions.lost("a1", 4)
    executions.lost("a1", 2, unseen=True)
    lost = [event for event, _ in executions.take()]
    assert lost == [ExecsLost(count=4), ExecsLost(count=2, unseen=True)]
