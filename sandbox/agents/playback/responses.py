"""OpenAI's Responses: `POST .../responses`.

Source: the API reference of OpenAI, Responses, with its streaming events.
"""

import json
from collections.abc import Iterator, Mapping
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

CALLS = ("function_call", "custom_tool_call", "local_shell_call")
USAGE = {
    "input_tokens": INPUT_TOKENS,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": OUTPUT_TOKENS,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
}


class Responses:
    """The interface that Codex speaks."""

    def serves(self, path: str) -> bool:
        """Whether a path is the interface's."""
        return path.endswith("/responses")

    def read(self, path: str, body: Mapping[str, Any]) -> Asked:  # noqa: ARG002
        """Read items and tools; some clients offer tools among the items."""
        items = body["input"]
        if isinstance(items, str):
            items = [{"type": "message", "content": items}]
        offered = list(body.get("tools") or ())
        for item in items:
            if item.get("type") == "additional_tools":
                offered += item["tools"]
        return Asked(
            model=str(body.get("model")),
            tools=tuple(tool for each in offered for tool in _tools(each)),
            calls=sum(item.get("type") in CALLS for item in items),
            told=tuple(
                text_of(item.get("output"))
                for item in items
                if str(item.get("type")).endswith("call_output")
            ),
            stream=bool(body.get("stream")),
        )

    def answer(self, asked: Asked, said: Said, number: int) -> Answer:
        """One item, in a response that begins and is completed."""
        item = _item(said, number)
        response = {"id": f"resp_{number}", "object": "response", "model": asked.model}
        whole = {**response, "status": "completed", "output": [item], "usage": USAGE}
        return Answer(
            whole=whole,
            events=(
                {"type": "response.created", "response": {**response, "status": "in_progress"}},
                {"type": "response.output_item.added", "output_index": 0, "item": item},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": whole},
            ),
            named=True,
        )


def _tools(tool: Mapping[str, Any]) -> Iterator[Tool]:
    if tool.get("type") == "namespace":
        yield from (Tool(str(inner.get("name")), tool["name"]) for inner in tool["tools"])
    else:
        yield Tool(str(tool.get("name") or tool.get("type")))


def _item(said: Said, number: int) -> Json:
    if not isinstance(said, Called):
        content = [{"type": "output_text", "text": said.text, "annotations": []}]
        return {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    item: Json = {"call_id": f"call_{number}", "name": said.tool.name, "status": "completed"}
    if said.tool.namespace:
        item["namespace"] = said.tool.namespace
    if said.call.text is not None:
        return {"type": "custom_tool_call", "id": f"ctc_{number}", "input": said.call.text, **item}
    arguments = json.dumps(said.call.arguments)
    return {"type": "function_call", "id": f"fc_{number}", "arguments": arguments, **item}
