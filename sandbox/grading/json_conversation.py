"""A conversation of lines of JSON with a program that may say anything."""

import json
import time
from typing import Any

from sandbox.container.engines.base import Conversation

ANSWER_LIMIT = 4 << 20
"""Bytes of one answer, unless more is expected."""


class Unanswered(Exception):  # noqa: N818 - it ends in a report's `problem`, not at a person
    """A call that was not answered, and why."""


class Lines:
    """The lines that a command prints, one message each, as something that may be anything."""

    def __init__(self, conversation: Conversation, limit: int = ANSWER_LIMIT) -> None:
        self._conversation, self._limit = conversation, limit
        self._rest = b""

    @property
    def waiting(self) -> bytes:
        """What has been printed beyond the last line that was taken."""
        return self._rest

    def say(self, message: object, deadline: float) -> None:
        """Write one message as a line of JSON; Unanswered where it is not taken in time."""
        try:
            self._conversation.send(json.dumps(message).encode() + b"\n", _left(deadline))
        except BrokenPipeError as error:
            raise Unanswered(self._end()) from error
        except TimeoutError as error:
            raise Unanswered("it reads nothing") from error

    def hear(self, deadline: float) -> dict[str, Any]:
        """Wait for a line of JSON that holds an object; Unanswered where there is none."""
        while b"\n" not in self._rest:
            if len(self._rest) > self._limit:
                raise Unanswered(f"its answer has more than {self._limit} bytes")
            try:
                data = self._conversation.receive(_left(deadline))
            except TimeoutError as error:
                raise Unanswered("it took too long") from error
            if not data:
                raise Unanswered(self._end())
            self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Unanswered("it printed something that is not a valid answer") from error
        if not isinstance(message, dict):
            raise Unanswered("it printed something that is not a valid answer")
        return message

    def _end(self) -> str:
        try:
            completed = self._conversation.wait(1)
        except TimeoutError:
            return "it closed its output"
        if completed.out_of_memory:
            return "it ran out of memory"
        if completed.exit_code is None:
            return f"it was ended by signal {completed.signal}"
        return f"it ended with status {completed.exit_code}"


def _left(deadline: float) -> float:
    return max(deadline - time.monotonic(), 0)
