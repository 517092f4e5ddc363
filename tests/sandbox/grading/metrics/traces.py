"""Runs for tests, written as a list of steps."""

from collections.abc import Sequence

from pydantic import JsonValue

from sandbox.grading.metrics.action_calls import Call, calls
from sandbox.model.coverage import Coverage
from sandbox.model.decision import Answer, Decision, Outcome, Question
from sandbox.model.event import (
    ActionTaken,
    ApprovalAsked,
    ApprovalDecided,
    Entry,
    Event,
    FilesChanged,
    Observed,
    RunStarted,
)
from sandbox.model.observation import ErrorCode, Observation

Step = list[Event]


def act(
    name: str,
    *,
    error: ErrorCode | None = None,
    result: dict[str, JsonValue] | None = None,
    writes: tuple[str, ...] = (),
    outcome: Outcome | None = Outcome.ALLOW,
    more: Sequence[Event] = (),
    **arguments: JsonValue,
) -> Step:
    """One action with its observation."""
    decision = None if outcome is None else Decision(outcome=outcome)
    seen = Observation(status="error" if error else "ok", error_code=error, result=result or {})
    changed = [FilesChanged(paths=writes)] if writes else []
    taken = ActionTaken(name=name, arguments=arguments, decision=decision)
    return [taken, *more, *changed, Observed(name=name, observation=seen)]


def shell(line: str, exit_code: int = 0, stdout: str = "", **options: JsonValue) -> Step:
    result: dict[str, JsonValue] = {"exit_code": exit_code, "stdout": stdout, **options}
    return act("run_command", command=line, result=result)


def asked(line: str, *, approved: bool, fallback: str | None = None) -> Step:
    question = Question(scope="network", command=line)
    answer = Answer(approved=approved, fallback_command=fallback)
    return act(
        "request_approval",
        scope="network",
        command=line,
        more=(ApprovalAsked(question=question), ApprovalDecided(question=question, answer=answer)),
    )


def written(path: str, content: str = "x", *, created: bool = True) -> Step:
    result: dict[str, JsonValue] = {"path": path, "size": 1, "created": created}
    return act("write_file", path=path, content=content, writes=(path,), result=result)


def entries(*steps: Step, before: Sequence[Event] = (), after: Sequence[Event] = ()) -> list[Entry]:
    events: list[tuple[str | None, Event]] = [(None, event) for event in before]
    for number, step in enumerate(steps):
        events += [(str(number), event) for event in step]
    events += [(None, event) for event in after]
    return [
        Entry(
            sequence=sequence,
            wall_time="2024-01-01T00:00:00.000000+00:00",
            elapsed=float(sequence),
            action_id=identity,
            event=event,
            previous="",
            digest="",
        )
        for sequence, (identity, event) in enumerate(events)
    ]


def run(
    *steps: Step,
    broken: Sequence[int] = (),
    test_command: str = "",
    coverage: Coverage | None = None,
) -> list[Call]:
    """The calls of a run; `broken` counts the steps that broke a rule, from 0."""
    before = []
    if coverage is not None:
        begun = RunStarted(
            run="r", task="t", task_digest="", image="", agent="a", mode="raw", coverage=coverage
        )
        before.append(begun)
    made = entries(*steps, before=before)
    actions = [entry.sequence for entry in made if entry.event.kind == "action"]
    return calls(made, [actions[number] for number in broken], test_command)
