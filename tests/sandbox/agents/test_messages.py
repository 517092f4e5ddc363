"""A trace as messages, in the shapes of two interfaces."""

import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessageParam
from pydantic import JsonValue, TypeAdapter

from sandbox.agents.messages import messages
from sandbox.agents.tools import Shape
from sandbox.model.event import ActionTaken, Entry, Event, FilesChanged, Observed, RunEnded
from sandbox.model.observation import ErrorCode, Observation

READ = ActionTaken(name="read_file", arguments={"path": "ä.txt"})
SEEN = Observed(name="read_file", observation=Observation(status="ok", result={"content": "a"}))
DENIED = Observed(
    name="run_command",
    observation=Observation(status="error", error_code=ErrorCode.POLICY_DENIED, message="No."),
)
RUN = ActionTaken(name="run_command", arguments={"command": "ls"})


def entries(*told: tuple[str | None, Event]) -> list[Entry]:
    return [
        Entry(
            sequence=number,
            wall_time="2026-01-01T00:00:00+00:00",
            elapsed=0.0,
            action_id=action,
            event=event,
            previous="",
            digest="",
        )
        for number, (action, event) in enumerate(told)
    ]


TRACE = entries(
    ("1", READ),
    ("1", FilesChanged(paths=("b",))),
    ("1", SEEN),
    ("2", RUN),
    ("2", DENIED),
    ("3", RUN),  # cut off by the end
    (None, RunEnded(reason="turn_limit", turns=3, seconds=1.0)),
)


def test_each_call_has_its_answer_in_openais_shape() -> None:
    found = messages("Do it.", TRACE)
    TypeAdapter(list[ChatCompletionMessageParam]).validate_python(found, strict=False)
    assert [each["role"] for each in found] == ["user", "assistant", "tool", "assistant", "tool"]
    calls: list[Any] = [call for each in found for call in _calls(each)]
    assert [json.loads(each["function"]["arguments"]) for each in calls] == [
        {"path": "ä.txt"},
        {"command": "ls"},
    ]
    assert [each.get("tool_call_id") for each in found if each["role"] == "tool"] == [
        each["id"] for each in calls
    ]
    assert json.loads(str(found[-1]["content"])) == {
        "status": "error",
        "result": {},
        "error_code": "policy_denied",
        "message": "No.",
    }


def test_each_call_has_its_answer_in_anthropics_shape() -> None:
    found: list[Any] = messages("Do it.", TRACE, "anthropic")
    assert [each["role"] for each in found] == ["user", "assistant", "user", "assistant", "user"]
    used = [block for each in found[1::2] for block in each["content"]]
    told = [block for each in found[2::2] for block in each["content"]]
    assert [each["input"] for each in used] == [READ.arguments, RUN.arguments]
    assert [each["tool_use_id"] for each in told] == [each["id"] for each in used]
    assert [each["is_error"] for each in told] == [False, True]
    assert all(isinstance(each["content"], str) for each in told)


@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_a_run_in_which_nothing_was_done_is_its_prompt(shape: Shape) -> None:
    assert messages("Do it.", [], shape) == [{"role": "user", "content": "Do it."}]


def _calls(message: dict[str, JsonValue]) -> list[Any]:
    found = message.get("tool_calls", [])
    assert isinstance(found, list)
    return found
