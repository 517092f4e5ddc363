"""A turn of a conversation, whatever interface of a model it comes by."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sandbox.agents.playback.script import Call, Say

INPUT_TOKENS, OUTPUT_TOKENS = 100, 10
"""What each turn is said to have used."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the client offers to the model."""

    name: str
    namespace: str = ""
    """OpenAI's Responses may group tools."""

    @property
    def whole(self) -> str:
        """The name with its namespace."""
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Asked:
    """What a client asks the model for."""

    model: str
    tools: tuple[Tool, ...]
    calls: int
    """How many the conversation has had until now."""
    told: tuple[str, ...]
    """The results of tools in it, as text."""
    stream: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model answers."""

    whole: Json
    """Where no stream is wanted."""
    events: tuple[Json, ...]
    """The stream."""
    named: bool = False
    """Whether each event's `type` is its name too (server-sent events)."""
    done: bool = False
    """Whether `[DONE]` comes last."""


class Dialect(Protocol):
    """One interface by which models are asked."""

    def serves(self, path: str) -> bool:
        """Whether requests to this path are this interface's."""

    def read(self, path: str, body: Mapping[str, Any]) -> Asked:
        """Read a request; KeyError, TypeError, AttributeError or ValueError where it is none."""

    def answer(self, asked: Asked, said: "Said", number: int) -> Answer:
        """Put what is said into the interface's shape; `number` makes ids."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call of a tool as it goes over the wire."""

    tool: Tool
    call: Call


Said = Called | Say


def resolve(call: Call, tools: tuple[Tool, ...]) -> Tool:
    """The tool that a call means: by its exact name, or by that of an action with any prefix."""
    if call.tool:
        return next((tool for tool in tools if tool.whole == call.tool), Tool(call.tool))
    ends = re.compile(rf"(?:.*[^a-z])?{re.escape(call.action)}", re.DOTALL)
    found = [tool for tool in tools if ends.fullmatch(tool.whole)]
    return min(found, key=lambda tool: len(tool.whole), default=Tool(call.action))


def text_of(content: object) -> str:
    """All text in a message's content, however deep."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(text_of(part) for part in content)
    if isinstance(content, dict):
        return "".join(text_of(content.get(name)) for name in ("text", "content", "output"))
    return ""
