"""A client of one MCP server over a conversation: a JSON-RPC message per line.

Source: the Model Context Protocol, revision 2025-06-18, transport stdio, and JSON-RPC 2.0. Only
what tools need is spoken: initialize, tools/list, tools/call; a ping is answered.
"""

import json
import time
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from sandbox.container.engines.base import Conversation
from sandbox.model.version import VERSION

REVISION = "2025-06-18"
KNOWN = ("2024-11-05", "2025-03-26", REVISION, "2025-11-25")
LINE_LIMIT = 4 << 20
"""Bytes of one message."""
PAGES = 20
"""Pages of a list of tools that are asked for."""
METHOD_NOT_FOUND = -32601


class UnavailableError(Exception):
    """A server cannot be used; the message says why, for the agent."""


class RefusedError(Exception):
    """The server answered a request by an error; the message is the server's."""


class _Wire(BaseModel):
    """What others write: unknown fields are theirs to add."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Tool(_Wire):
    """One tool, as its server describes it."""

    name: str
    description: str = ""
    schema_: dict[str, JsonValue] = Field(alias="inputSchema")


class ToolAnswer(_Wire):
    """What a call of a tool gave."""

    content: tuple[dict[str, JsonValue], ...] = ()
    structured: dict[str, JsonValue] | None = Field(default=None, alias="structuredContent")
    is_error: bool = Field(default=False, alias="isError")

    @property
    def text(self) -> str:
        """The texts, one after the other; of other content its kind."""
        return "\n".join(_text(part) for part in self.content)


class _Tools(_Wire):
    tools: tuple[Tool, ...]
    next: str | None = Field(default=None, alias="nextCursor")


class _Hello(_Wire):
    revision: str = Field(alias="protocolVersion")


Answer = TypeVar("Answer", bound=_Wire)


def _text(part: dict[str, JsonValue]) -> str:
    text = part.get("text")
    return text if isinstance(text, str) else f"[{part.get('type', 'unknown')}]"


class Client:
    """One conversation with a server; not for several threads at once.

    UnavailableError once the server has ended, is silent or does not speak the protocol: then the
    client is of no more use.
    """

    def __init__(self, conversation: Conversation, seconds: float) -> None:
        """Introduce the harness; each answer may take so many seconds."""
        self._conversation = conversation
        self._seconds = seconds
        self._buffer = b""
        self._last = 0
        me = {"name": "sandbox", "version": VERSION}
        offer = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": me}
        hello = self._ask("initialize", offer, _Hello)
        if hello.revision not in KNOWN:
            raise UnavailableError(f"it speaks MCP {hello.revision}, which is not known here")
        self._send({"method": "notifications/initialized"})

    def tools(self) -> tuple[Tool, ...]:
        """Ask which tools there are."""
        found: list[Tool] = []
        cursor: str | None = None
        for _ in range(PAGES):
            page = self._ask("tools/list", {"cursor": cursor} if cursor else {}, _Tools)
            found += page.tools
            cursor = page.next
            if cursor is None:
                return tuple(found)
        raise UnavailableError(f"its list of tools has more than {PAGES} pages")

    def call(self, tool: str, arguments: dict[str, JsonValue]) -> ToolAnswer:
        """Call a tool; RefusedError where the server does not carry that out."""
        return self._ask("tools/call", {"name": tool, "arguments": arguments}, ToolAnswer)

    def _ask(self, method: str, params: dict[str, Any], kind: type[Answer]) -> Answer:
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        deadline = time.monotonic() + self._seconds
        while True:
            message = self._receive(deadline)
            if "method" in message:
                self._oblige(message)
            elif message.get("id") == self._last:
                break
        if "error" in message:
            raise RefusedError(_error_of(message["error"]))
        try:
            return kind.model_validate_json(json.dumps(message.get("result")))
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, problem["loc"]))
            raise UnavailableError(
                f"its answer to {method} is malformed: {where}: {problem['msg']}"
            ) from None

    def _oblige(self, message: dict[str, Any]) -> None:
        """Answer what a server asks of its client; what it only tells is let pass."""
        if "id" not in message:
            return
        if message["method"] == "ping":
            self._send({"id": message["id"], "result": {}})
        else:
            error = {"code": METHOD_NOT_FOUND, "message": "This client offers nothing."}
            self._send({"id": message["id"], "error": error})

    def _receive(self, deadline: float) -> dict[str, Any]:
        """Wait for the next message."""
        while b"\n" not in self._buffer:
            try:
                data = self._conversation.receive(max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                raise UnavailableError(f"it gave no answer in {self._seconds:g} seconds") from None
            if not data:
                raise UnavailableError(self._ending())
            self._buffer += data
            if len(self._buffer) > LINE_LIMIT:
                raise UnavailableError(f"it sent a message of more than {LINE_LIMIT} bytes")
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise UnavailableError("it sent a line that is not a valid message")
        return message

    def _send(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        try:
            self._conversation.send(line.encode(), self._seconds)
        except BrokenPipeError:
            raise UnavailableError(self._ending()) from None
        except TimeoutError:
            raise UnavailableError("it does not read what it is sent") from None

    def _ending(self) -> str:
        """Say how it ended, with the last line that it had to say about that."""
        try:
            completed = self._conversation.wait(self._seconds)
        except TimeoutError:
            return "it closed its output"
        lines = completed.stderr.decode("utf-8", "replace").strip().splitlines()
        how = f"it ended with exit code {completed.exit_code}"
        if completed.signal:
            how = f"it was ended by signal {completed.signal}"
        return f"{how}: {lines[-1][:500]}" if lines else how


def _error_of(error: object) -> str:
    text = error.get("message") if isinstance(error, dict) else None
    return text if isinstance(text, str) else "an error without a message"
