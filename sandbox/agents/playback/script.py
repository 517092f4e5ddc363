"""What a scripted model says: one step for each turn of a conversation."""

from typing import Literal

from pydantic import Field, JsonValue

from sandbox.model.base import Record


class Call(Record):
    """The model calls a tool."""

    kind: Literal["call"] = "call"
    action: str = ""
    """One of the harness's actions, under whatever name the client offers it."""
    tool: str = ""
    """In place of it a tool by exactly this name, whether it is offered or not."""
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    text: str | None = None
    """In place of arguments, for tools that take free text (OpenAI's custom tools)."""


class Say(Record):
    """The model says something and ends its turn."""

    kind: Literal["say"] = "say"
    text: str = Field(min_length=1)


class Fault(Record):
    """The server fails before it does what the next step says."""

    kind: Literal["fault"] = "fault"
    how: Literal["cut", "garbage", "hang"] | int
    """A status of HTTP, or `cut`: half a stream, or `garbage` for a body, or `hang`: no answer."""
    times: int | None = 1
    """How often; without end where it is None."""


Step = Call | Say | Fault
Script = tuple[Step, ...]
