"""Anthropic's Messages: `POST .../messages`.

Source: the API reference of Anthropic, Messages, with its streaming events.
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

USAGE = {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS}


class Messages:
    """The interface that Claude Code speaks."""

    def serves(self, path: str) -> bool:
        """Whether a path is the interface's."""
        return path.endswith("/messages")

    def read(self, path: str, body: Mapping[str, Any]) -> Asked:  # noqa: ARG002
        """Read messages and tools."""
        blocks = [
            block
            for message in body["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
        ]
        return Asked(
            model=str(body.get("model")),
            tools=tuple(Tool(tool["name"]) for tool in body.get("tools") or ()),
            calls=sum(block["type"] == "tool_use" for block in blocks),
            told=tuple(
                text_of(block.get("content")) for block in blocks if block["type"] == "tool_result"
            ),
            stream=bool(body.get("stream")),
        )

    def answer(self, asked: Asked, said: Said, number: int) -> Answer:
        """One block of content."""
        base: Json = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": asked.model,
            "stop_sequence": None,
        }
        block, empty, delta = _block(said, number)
        reason = "tool_use" if isinstance(said, Called) else "end_turn"
        begun = {**base, "content": [], "stop_reason": None, "usage": {**USAGE, "output_tokens": 1}}
        stop = {"stop_reason": reason, "stop_sequence": None}
        return Answer(
            whole={**base, "content": [block], "stop_reason": reason, "usage": USAGE},
            events=(
                {"type": "message_start", "message": begun},
                {"type": "content_block_start", "index": 0, "content_block": empty},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": stop, "usage": {"output_tokens": OUTPUT_TOKENS}},
                {"type": "message_stop"},
            ),
            named=True,
        )


def _block(said: Said, number: int) -> tuple[Json, Json, Json]:
    """The block whole, as it begins in a stream, and the rest of it."""
    if not isinstance(said, Called):
        block: Json = {"type": "text", "text": said.text}
        return block, {"type": "text", "text": ""}, {"type": "text_delta", "text": said.text}
    arguments = said.call.arguments
    block = {
        "type": "tool_use",
        "id": f"toolu_{number:012}",
        "name": said.tool.name,
        "input": arguments,
    }
    delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    return block, {**block, "input": {}}, delta
