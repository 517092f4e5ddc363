"""The messages of Codex's remote environment: JSON-RPC without its version, one message per line.

Source: `codex exec-server --listen stdio` of Codex 0.169.0, and `codex-rs/exec-server-protocol` of
github.com/openai/codex, from which names, shapes and codes are.
"""

import json
import threading
from collections.abc import Callable
from typing import BinaryIO, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from pydantic.alias_generators import to_camel

from sandbox.agents.requests import LINE_LIMIT, decode_object, first_problem

UNREADABLE = -1
"""The id in answers to what has none."""

INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
INVALID_PARAMETERS = -32602
NOT_FOUND = -32004
"""Where a file is missing: the one code that the client tells from the others."""


class Refused(Exception):  # noqa: N818 - an answer, not a fault of this program
    """A request is answered with an error."""

    def __init__(self, message: str, code: int = INVALID_REQUEST) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class Shape(BaseModel):
    """What is read of a message; fields that nobody needs here are passed over."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", alias_generator=to_camel)


class Message(Shape):
    """A request, or a notification where it has no id."""

    id: int | str | None = None
    method: str
    params: dict[str, JsonValue] | None = None


Parameters = TypeVar("Parameters", bound=Shape)


def parse(line: bytes) -> Message:
    """Read a line; Refused where it holds no message."""
    if len(line) > LINE_LIMIT:
        raise Refused(f"A line has at most {LINE_LIMIT} bytes.")
    try:
        return Message.model_validate(decode_object(line))
    except ValidationError as error:
        raise Refused(f"The line is not a valid request: {first_problem(error)}.") from error
    except ValueError as error:
        raise Refused(str(error)) from error


def read(message: Message, shape: type[Parameters]) -> Parameters:
    """Read a request's parameters; Refused where they are others."""
    try:
        return shape.model_validate(message.params or {})
    except ValidationError as error:
        problem = f"{message.method}: {first_problem(error)}."
        raise Refused(problem, INVALID_PARAMETERS) from error


class Speaker:
    """Writes messages to the client, from any thread; once it has gone nothing is written."""

    def __init__(self, stream: BinaryIO, lost: Callable[[], None]) -> None:
        """Take a stream and what is told, once, that nobody reads it any more."""
        self._stream = stream
        self._told = lost
        self._gone = False
        self._lock = threading.Lock()

    def result(self, message: Message, result: dict[str, JsonValue]) -> None:
        """Answer a request; a notification has no answer."""
        if message.id is not None:
            self._say({"id": message.id, "result": result})

    def error(self, identifier: int | str | None, refused: Refused) -> None:
        """Answer with what is wrong."""
        error: JsonValue = {"code": refused.code, "message": refused.message}
        self._say({"id": UNREADABLE if identifier is None else identifier, "error": error})

    def notify(self, method: str, params: dict[str, JsonValue]) -> None:
        """Tell something that was not asked for."""
        self._say({"method": method, "params": params})

    def _say(self, message: dict[str, JsonValue]) -> None:
        with self._lock:
            if self._gone:
                return
            try:
                self._stream.write(json.dumps(message).encode() + b"\n")
                self._stream.flush()
            except (OSError, ValueError):  # broken, or closed
                self._gone = True
        if self._gone:
            self._told()
