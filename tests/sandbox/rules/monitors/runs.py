"""Traces for tests, written as a list of steps."""

from typing import Any

from pydantic import JsonValue

from sandbox.model.event import ActionTaken, Entry, Event, FilesChanged, Observed
from sandbox.model.observation import ErrorCode, Observation
from sandbox.rules.monitors.steps import Step

NO_OBSERVATION = object()


def entries(*events: tuple[str | None, Event]) -> tuple[Entry, ...]:
    return tuple(
        Entry(
            sequence=number,
            wall_time="2024-01-01T00:00:00.000000+00:00",
            elapsed=float(number),
            action_id=identity,
            event=event,
            previous="",
            digest="",
        )
        for number, (identity, event) in enumerate(events)
    )


def step(
    identity: str,
    name: str,
    *,
    error: ErrorCode | None = None,
    result: dict[str, Any] | None = None,
    changes: tuple[str, ...] = (),
    **arguments: JsonValue,
) -> list[tuple[str | None, Event]]:
    observation = Observation(
        status="error" if error else "ok", error_code=error, result=result or {}
    )
    events: list[tuple[str | None, Event]] = [
        (identity, ActionTaken(name=name, arguments=arguments))
    ]
    if changes:
        events.append((identity, FilesChanged(paths=changes)))
    return [*events, (identity, Observed(name=name, observation=observation))]


def run(*steps: list[tuple[str | None, Event]]) -> tuple[Entry, ...]:
    return entries(*(event for each in steps for event in each))


def ran(
    command: str | None, code: int | None = 0, *, by: str = "run_command", cwd: str = "."
) -> Step:
    """A command that an action has run, and how it ended."""
    arguments: dict[str, JsonValue] = {"cwd": cwd}
    if command is not None:
        arguments["command"] = command
    return Step(1, by, arguments, Observation(result={"exit_code": code}))
