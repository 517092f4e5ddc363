"""A run's trace as the conversation that a model with tools would have had.

Shapes: https://platform.openai.com/docs/api-reference/chat/create (messages, tool_calls) and
https://docs.anthropic.com/en/api/messages (tool_use, tool_result).
"""

import json
from collections.abc import Iterable, Iterator, Sequence

from pydantic import JsonValue

from sandbox.agents.function_agent import Shape
from sandbox.model.event import ActionTaken, Entry, Observed
from sandbox.model.observation import Observation

Message = dict[str, JsonValue]


def messages(prompt: str, entries: Sequence[Entry], shape: Shape = "openai") -> list[Message]:
    """Give the prompt, then each call that the agent made and what it was told.

    An action that the end of the run cut off has no answer and is left out, for interfaces want one
    for each call. Ids are `call_1`, `call_2`, ... in the order of the calls.
    """
    told = _anthropic if shape == "anthropic" else _openai
    found: list[Message] = [{"role": "user", "content": prompt}]
    for number, (action, observation) in enumerate(_pairs(entries), 1):
        found += told(f"call_{number}", action, observation)
    return found


def _pairs(entries: Iterable[Entry]) -> Iterator[tuple[ActionTaken, Observation]]:
    asked: dict[str | None, ActionTaken] = {}
    for entry in entries:
        if isinstance(entry.event, ActionTaken):
            asked[entry.action_id] = entry.event
        elif isinstance(entry.event, Observed) and entry.action_id in asked:
            yield asked.pop(entry.action_id), entry.event.observation


def _openai(call: str, action: ActionTaken, observation: Observation) -> list[Message]:
    function: dict[str, JsonValue] = {
        "name": action.name,
        "arguments": json.dumps(action.arguments, ensure_ascii=False),
    }
    made: dict[str, JsonValue] = {"id": call, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": call, "content": _content(observation)},
    ]


def _anthropic(call: str, action: ActionTaken, observation: Observation) -> list[Message]:
    used: dict[str, JsonValue] = {
        "type": "tool_use",
        "id": call,
        "name": action.name,
        "input": action.arguments,
    }
    result: dict[str, JsonValue] = {
        "type": "tool_result",
        "tool_use_id": call,
        "content": _content(observation),
        "is_error": observation.status == "error",
    }
    return [
        {"role": "assistant", "content": [used]},
        {"role": "user", "content": [result]},
    ]


def _content(observation: Observation) -> str:
    return json.dumps(observation.model_dump(mode="json", exclude_none=True), ensure_ascii=False)
