"""OpenAI's Chat Completions: `POST .../chat/completions`.

Source: the API reference of OpenAI, Chat Completions, with its streaming events.
"""

import json
from collections.abc import Mapping
from typing import Any

from sandbox.agents.playback.turn import (
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    Answer,
    Asked,
    Called,
    Json,
    Said,
    Tool,
    text_of,
)

USAGE = {
    "prompt_tokens": INPUT_TOKENS,
    "completion_tokens": OUTPUT_TOKENS,
    "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
}


class Chat:
    """The interface that most model servers have."""

    def serves(self, path: str) -> bool:
        """Whether a path is the interface's."""
        return path.endswith("/chat/completions")

    def read(self, path: str, body: Mapping[str, Any]) -> Asked:  # noqa: ARG002
        """Read messages and functions."""
        messages = body["messages"]
        return Asked(
            model=str(body.get("model")),
            tools=tuple(Tool(tool["function"]["name"]) for tool in body.get("tools") or ()),
            calls=sum(len(message.get("tool_calls") or ()) for message in messages),
            told=tuple(text_of(each["content"]) for each in messages if each["role"] == "tool"),
            stream=bool(body.get("stream")),
        )

    def answer(self, asked: Asked, said: Said, number: int) -> Answer:
        """One choice, as message and as chunks."""
        base = {"id": f"chatcmpl-{number}", "created": 0, "model": asked.model}
        message = _message(said, number)
        reason = "tool_calls" if isinstance(said, Called) else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason}
        chunk = {**base, "object": "chat.completion.chunk"}
        return Answer(
            whole={**base, "object": "chat.completion", "choices": [choice], "usage": USAGE},
            events=(
                {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
                {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
                {**chunk, "choices": [], "usage": USAGE},
            ),
            done=True,
        )


def _message(said: Said, number: int) -> Json:
    if not isinstance(said, Called):
        return {"role": "assistant", "content": said.text}
    function = {"name": said.tool.name, "arguments": json.dumps(said.call.arguments)}
    call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}
