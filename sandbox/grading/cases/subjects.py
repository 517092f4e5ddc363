"""What a candidate offers, called from outside: it runs in the container, we are not there."""

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from sandbox.grading.cases.answers import Answer, Fields, ForgedAnswer, Raised, Value
from sandbox.grading.cases.standing import OUTPUT_LIMIT, Standing
from sandbox.grading.json_conversation import Lines, Unanswered
from sandbox.grading.runners import wire
from sandbox.model.case import CommandSubject, FunctionSubject, McpSubject

INTERPRETERS = {"python": ("python", "-"), "javascript": ("node", "-")}
"""Each reads its program from standard input."""

START_SECONDS = 30.0
"""How long a program may take until it answers at all."""


class Caller(Protocol):
    """A running subject, for the calls of one case."""

    def call(self, given: Mapping[str, Any], seconds: float) -> Answer:
        """Make a call; Unanswered or ForgedAnswer where it gives nothing that can be judged."""

    def close(self) -> None:
        """End what runs."""


class Servant:
    """A program of the grader's in the container, which calls what it is told to."""

    def __init__(self, language: str, standing: Standing, servants: str) -> None:
        """Start it; their programs lie in the folder `servants`."""
        command = standing.fed(INTERPRETERS[language], f"{servants}/{language}")
        self._running = standing.session.converse(command)
        self._lines = Lines(self._running)

    def ask(self, call: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Ask, and take the one answer that carries the call's own name."""
        name = secrets.token_hex(16)
        deadline = time.monotonic() + seconds
        self._lines.say({"id": name, **call}, deadline)
        answer = self._lines.hear(deadline)
        if answer.pop("id", None) != name:
            raise Unanswered("it answered what was not asked")
        if name.encode() in self._lines.waiting:
            raise ForgedAnswer("a call was answered twice")
        return answer

    def close(self) -> None:
        """Kill it with all that was started there."""
        self._running.kill()
        self._running.wait()


class Function:
    """Calls a function through a servant in the container."""

    def __init__(self, subject: FunctionSubject, standing: Standing, servants: str) -> None:
        """Start a servant; their programs lie in the folder `servants`."""
        self._javascript, self._name = subject.language == "javascript", subject.name
        self._servant = Servant(subject.language, standing, servants)
        self._started = False

    def call(self, given: Mapping[str, Any], seconds: float) -> Answer:
        """Ask for a call, once the function has been imported."""
        if not self._started:
            self._servant.ask({"subject": self._name}, START_SECONDS)
            self._started = True
        arguments = [self._encoded(each) for each in given.get("arguments", ())]
        keywords = {key: self._encoded(each) for key, each in given.get("keywords", {}).items()}
        answer = self._servant.ask({"arguments": arguments, "keywords": keywords}, seconds)
        match answer:
            case {"value": value} if len(answer) == 1:
                return Value(value)
            case {"raised": {"type": str(kind), "message": str(message)}} if len(answer) == 1:
                return Raised(kind, message)
        raise Unanswered("it printed something that is not a valid answer")

    def close(self) -> None:
        """Kill the servant with all that the function has started."""
        self._servant.close()

    def _encoded(self, value: object) -> Any:  # noqa: ANN401
        encoded = wire.encode(value)
        return wire.in_javascript(encoded) if self._javascript else encoded


class Program:
    """Runs a program once for each call."""

    def __init__(self, subject: CommandSubject, standing: Standing) -> None:
        self._argv, self._standing = subject.argv, standing

    def call(self, given: Mapping[str, Any], seconds: float) -> Answer:
        """Give `exit_code`, `stdout` and `stderr`: text, or bytes where it is none."""
        argv = (*self._argv, *map(str, given.get("arguments", ())))
        about = self._standing.command(argv, seconds)
        stdin = str(given.get("stdin", "")).encode()
        try:
            completed = self._standing.session.run(replace(about, stdin=stdin))
        except OSError as error:
            raise Unanswered(f"it cannot be started: {error.strerror}") from error
        if completed.timed_out:
            raise Unanswered("it took too long")
        if completed.stdout_bytes > OUTPUT_LIMIT:
            raise Unanswered(f"it printed more than {OUTPUT_LIMIT} bytes")
        return Fields(
            {
                "exit_code": wire.encode(completed.exit_code),
                "stdout": wire.encode(_text(completed.stdout)),
                "stderr": wire.encode(_text(completed.stderr)),
            }
        )

    def close(self) -> None:
        """Nothing runs."""


class McpServer:
    """Calls tools of an MCP server over its standard input and output (MCP 2025-06-18)."""

    VERSION = "2025-06-18"

    def __init__(self, subject: McpSubject, standing: Standing) -> None:
        self._server = standing.session.converse(standing.command(subject.argv))
        self._lines = Lines(self._server)
        self._greeted = False
        self._number = 0

    def call(self, given: Mapping[str, Any], seconds: float) -> Answer:
        """Give `is_error`, `text` (of all text blocks) and `structured` (null for none)."""
        if not self._greeted:
            self._greet(time.monotonic() + START_SECONDS)
        arguments = {"name": given.get("tool"), "arguments": given.get("arguments", {})}
        answer = self._ask("tools/call", arguments, time.monotonic() + seconds)
        if "error" in answer:
            error = answer["error"]
            text = error.get("message") if isinstance(error, dict) else None
            return Fields({"is_error": True, "text": wire.encode(text), "structured": None})
        result = answer.get("result")
        if not isinstance(result, dict) or not isinstance(result.get("content", []), list):
            raise Unanswered("it gave a malformed result")
        blocks = [block for block in result.get("content", []) if isinstance(block, dict)]
        text = "".join(str(block.get("text")) for block in blocks if block.get("type") == "text")
        return Fields(
            {
                "is_error": result.get("isError", False) is True,
                "text": text,
                "structured": wire.encode(result.get("structuredContent")),
            }
        )

    def close(self) -> None:
        """Kill the server."""
        self._server.kill()
        self._server.wait()

    def _greet(self, deadline: float) -> None:
        about = {"name": "grader", "version": "1"}
        hello = {"protocolVersion": self.VERSION, "capabilities": {}, "clientInfo": about}
        self._ask("initialize", hello, deadline)
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self._lines.say(ready, deadline)
        self._greeted = True

    def _ask(self, method: str, parameters: object, deadline: float) -> dict[str, Any]:
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}
        self._lines.say(request, deadline)
        while True:
            message = self._lines.hear(deadline)
            if "method" not in message and message.get("id") == self._number:
                return message


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def from_json(text: bytes) -> Any:  # noqa: ANN401
    """Read JSON and encode it; Unanswered where it is none."""
    try:
        return wire.encode(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise Unanswered("its body is not JSON") from error
