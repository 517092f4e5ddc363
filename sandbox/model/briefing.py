"""What passes between harness and agent: a briefing, then requests and replies, then the end.

`docs/agent-protocol.md` is the description for people, `docs/agent-protocol.schema.json` the
schema that `schema` makes of these records.
"""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, JsonValue
from pydantic.json_schema import models_json_schema

from sandbox.model import observation as results
from sandbox.model.action import ACTIONS, SERVER_ACTIONS, AskUser, Request
from sandbox.model.alias import alias
from sandbox.model.base import Record
from sandbox.model.event import EndReason
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.task import RunLimits, Task

PROTOCOL = 1
"""Raised when a change could break an agent; a new optional field cannot."""


class ActionDescription(Record):
    """One action that the agent may ask for."""

    name: str
    description: str
    arguments: dict[str, JsonValue]
    """JSON Schema of the request's `arguments`."""


class Briefing(Record):
    """The first line that an agent gets."""

    protocol: int = PROTOCOL
    run: str
    task: str
    """Of a variant the task's name with digits that tell it from others, not what it is made of."""
    title: str
    prompt: str
    worktree: str
    """Where the repository lies in the container; paths of actions start there."""
    actions: tuple[ActionDescription, ...]
    final: dict[str, str]
    """The fields of the final answer and their types."""
    limits: RunLimits


class Reply(Record):
    """The answer to one request; each request gets one, in the order in which they came."""

    id: str | None
    """The request's; None where the line that is answered had none."""
    status: Literal["ok", "error"]
    error_code: ErrorCode | None
    message: str | None
    result: dict[str, JsonValue]
    turns_left: int | None = None
    """How many more actions the run may have; None where it is over."""
    output_left: int | None = None
    """How many more bytes the agent may be shown, where the task bounds them closely."""
    seconds_left: int | None = None
    """How many more seconds the run may last; None where it is over."""
    said: tuple[str, ...] = ()
    """What the user has said meanwhile, unasked."""
    left: dict[str, int] | None = Field(default=None, exclude_if=lambda it: it is None)
    """How much is left of what a rule of the task bounds and tells, by its name."""


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left of a run that goes on, as a reply tells it."""

    turns: int | None = None
    output: int | None = None
    seconds: int | None = None
    bounded: dict[str, int] | None = None


OVER = Remaining()


class Ended(Record):
    """The last line that an agent gets."""

    ended: EndReason
    message: str = ""


RESULTS: dict[str, type[Record]] = {
    "read_file": results.FileContent,
    "list_files": results.FileList,
    "search_repo": results.Matches,
    "run_command": results.CommandResult,
    "apply_patch": results.PatchResult,
    "write_file": results.WriteResult,
    "run_tests": results.TestsResult,
    "git_diff": results.DiffResult,
    "discover_tools": results.FoundServers,
    "call_tool": results.ToolResult,
    "ask_user": results.UserAnswered,
    "request_approval": results.ApprovalResult,
    "final_answer": results.FinalResult,
}
"""What `result` holds where an action was carried out, by the action's name."""


def brief(task: Task, run: str, worktree: str) -> Briefing:
    """Say what an agent needs to know, and nothing that it is graded by in secret."""
    return Briefing(
        run=run,
        task=alias(task.id),
        title=task.title,
        prompt=task.prompt,
        worktree=worktree,
        actions=tuple(
            ActionDescription(
                name=name,
                description=kind.__doc__ or "",
                arguments=kind.model_json_schema(),
            )
            for name, kind in ACTIONS.items()
            if _is_offered(name, task)
        ),
        final={name: field.type for name, field in task.final.items()},
        limits=task.limits,
    )


def _is_offered(action: str, task: Task) -> bool:
    """Whether there is somebody in the task's world who can answer such an action."""
    if action in SERVER_ACTIONS:
        return bool(task.world.every_server)
    return action != AskUser.name or task.user is not None


def reply(
    identifier: str | None,
    action: str,
    observation: Observation,
    remaining: Remaining = OVER,
    said: tuple[str, ...] = (),
) -> Reply:
    """Address an observation to the request that it answers.

    The result has all keys of the action's, null where it was refused, so that an agent can look
    into each without asking first whether it is there.
    """
    kind = RESULTS.get(action)
    keys = dict.fromkeys(kind.model_fields) if kind is not None else {}
    return Reply(
        id=identifier,
        status=observation.status,
        error_code=observation.error_code,
        message=observation.message,
        result={**keys, **observation.result},
        turns_left=remaining.turns,
        output_left=remaining.output,
        seconds_left=remaining.seconds,
        said=said,
        left=remaining.bounded,
    )


def schema() -> dict[str, Any]:
    """Return the JSON Schema of every line of the protocol, in both directions."""
    models: list[type[Record]] = [Briefing, Request, Reply, Ended]
    models += [*ACTIONS.values(), *RESULTS.values()]
    _, definitions = models_json_schema([(model, "validation") for model in models])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Agent protocol, version {PROTOCOL}",
        "description": "One JSON object per line. `actions` has what goes with each action's name.",
        "to_agent": {"oneOf": [_reference(Briefing), _reference(Reply), _reference(Ended)]},
        "from_agent": _reference(Request),
        "actions": {
            name: {"arguments": _reference(ACTIONS[name]), "result": _reference(RESULTS[name])}
            for name in ACTIONS
        },
        **definitions,
    }


def _reference(model: type[Record]) -> dict[str, str]:
    return {"$ref": f"#/$defs/{model.__name__}"}
