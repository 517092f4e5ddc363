"""Google's Gemini: `POST .../models/NAME:generateContent` and `:streamGenerateContent`.

Source: the API reference of Google, Generating content.
"""

import json
import re
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
)

USAGE = {
    "promptTokenCount": INPUT_TOKENS,
    "candidatesTokenCount": OUTPUT_TOKENS,
    "totalTokenCount": INPUT_TOKENS + OUTPUT_TOKENS,
}

_PATH = re.compile(r".*/models/([^/:]+):(stream)?[gG]enerateContent")


class Gemini:
    """The interface that Gemini CLI speaks."""

    def serves(self, path: str) -> bool:
        """Whether a path is the interface's."""
        return _PATH.fullmatch(path) is not None

    def read(self, path: str, body: Mapping[str, Any]) -> Asked:
        """Read contents and functions."""
        found = _PATH.fullmatch(path)
        parts = [part for content in body["contents"] for part in content.get("parts") or ()]
        return Asked(
            model=found[1] if found else "",
            tools=tuple(
                Tool(function["name"])
                for tool in body.get("tools") or ()
                for function in tool.get("functionDeclarations") or ()
            ),
            calls=sum("functionCall" in part for part in parts),
            told=tuple(
                json.dumps(part["functionResponse"].get("response"))
                for part in parts
                if "functionResponse" in part
            ),
            stream=bool(found and found[2]),
        )

    def answer(self, asked: Asked, said: Said, number: int) -> Answer:  # noqa: ARG002
        """One candidate, which is the only event of the stream."""
        if isinstance(said, Called):
            call = {"name": said.tool.name, "args": said.call.arguments}
            part: Json = {"functionCall": call}
        else:
            part = {"text": said.text}
        content = {"role": "model", "parts": [part]}
        whole = {
            "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
            "usageMetadata": USAGE,
            "modelVersion": asked.model,
        }
        return Answer(whole=whole, events=(whole,))
