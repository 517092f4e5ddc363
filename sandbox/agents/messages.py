"""A run's trace as the conversation that a model with tools would have had.

Shapes: https://platform.openai.com/docs/api-reference/chat/create (messages, tool_calls) and
https://docs.anthropic.com/en/api/messages (tool_use, tool_result).
"""

import json
from collections.abc import Sequence

from pydantic import JsonValue

from sandbox.agents.tools import Shape
from sandbox.agents.turns import Turn, content, turns
from sandbox.model.event import Entry
from sandbox.model.observation import Observation

Message = dict[str, JsonValue]


def messages(prompt: str, entries: Sequence[Entry], shape: Shape = "openai") -> list[Message]:
    """Give the prompt, then each call that the agent made and what it was told.

    An action that the end of the run cut off has no answer and is left out, for interfaces want one
    for each call. Ids are `call_1`, `call_2`, ... in the order of the calls.
    """
    told = _anthropic if shape == "anthropic" else _openai
    found: list[Message] = [{"role": "user", "content": prompt}]
    for turn in turns(entries):
        if turn.observation is not None:
            found += told(turn, turn.observation)
    return found


def _openai(turn: Turn, observation: Observation) -> list[Message]:
    function: dict[str, JsonValue] = {
        "name": turn.action.name,
        "arguments": json.dumps(turn.action.arguments, ensure_ascii=False),
    }
    made: dict[str, JsonValue] = {"id": turn.call, "type": "function", "function": function}
    told = content(observation, turn.heard)
    return [
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": turn.call, "content": told},
    ]


def _anthropic(turn: Turn, observation: Observation) -> list[Message]:
    used: dict[str, JsonValue] = {
        "type": "tool_use",
        "id": turn.call,
        "name": turn.action.name,
        "input": turn.action.arguments,
    }
    result: dict[str, JsonValue] = {
        "type": "tool_result",
        "tool_use_id": turn.call,
        "content": content(observation, turn.heard),
        "is_error": observation.status == "error",
    }
    return [
        {"role": "assistant", "content": [used]},
        {"role": "user", "content": [result]},
    ]
