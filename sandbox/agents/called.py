"""An agent that is called from elsewhere: callers in other threads ask, one action after the other.

It is between the run loop, which waits in `next`, and a server, a prompt or a test, which waits in
`call`. Calls wait in line; each gets the reply to its own action, or learns that the run is over.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from sandbox.agents.base import Garbage
from sandbox.model.action import Request
from sandbox.model.briefing import Briefing, Ended, Reply
from sandbox.model.usage import ModelUsage


@dataclass(slots=True, eq=False)
class _Call:
    request: Request | Garbage
    answer: Reply | Ended | None = None


class CalledAgent:
    """Fulfils `Agent` for its callers; ids of requests count from 1."""

    def __init__(self, name: str, begun: Callable[[Briefing], None] = lambda _: None) -> None:
        """Take a name, and what is told the briefing before the first action is waited for."""
        self.name = name
        self._begun = begun
        self._changed = threading.Condition()
        self._waiting: deque[_Call] = deque()
        self._current: _Call | None = None
        self._count = 0
        self._left = ""
        self._failure: BaseException | None = None
        self._ended: Ended | None = None

    def call(
        self,
        action: str,
        arguments: Mapping[str, JsonValue],
        usage: ModelUsage | None = None,
    ) -> Reply | Ended:
        """Ask for an action from any thread and wait until it is done.

        Returns how the run ended, where that was before the action's turn came.
        """
        with self._changed:
            self._count += 1
            return self._put(
                Request(id=str(self._count), action=action, arguments=dict(arguments), usage=usage)
            )

    def garble(self, garbage: Garbage) -> Reply | Ended:
        """Have it recorded, as an action would be, that something was said that asks for none."""
        with self._changed:
            return self._put(garbage)

    def leave(self, why: str) -> None:
        """End the run once the action under way is done; `why` is a sentence for the trace."""
        with self._changed:
            self._left = self._left or why
            self._changed.notify_all()

    def fail(self, error: BaseException) -> None:
        """End the run as one that could not be carried through: `next` raises the error."""
        with self._changed:
            self._failure = self._failure or error
            self._changed.notify_all()

    def begin(self, briefing: Briefing) -> None:
        """Tell whoever prepares the callers."""
        self._begun(briefing)

    def next(self, reply: Reply | None, timeout: float) -> Request | Garbage | None:
        """Hand over the reply and wait for the next call in line."""
        with self._changed:
            self._hand_over(reply)
            self._changed.wait_for(self._moved, timeout)
            if self._failure is not None:
                raise self._failure
            if self._left:
                return None
            if not self._waiting:
                raise TimeoutError(f"No call came for {timeout:.0f} seconds.")
            self._current = self._waiting.popleft()
            return self._current.request

    def ending(self) -> str:
        """Say why it has left."""
        return self._left

    def close(self, reply: Reply | None, ended: Ended) -> None:
        """Answer the last call, and tell those that wait, now or later, that the run is over."""
        with self._changed:
            self._hand_over(reply)
            self._ended = ended
            unanswered = [*self._waiting, *([self._current] if self._current else [])]
            for call in unanswered:
                call.answer = ended
            self._waiting.clear()
            self._current = None
            self._changed.notify_all()

    def _moved(self) -> bool:
        return bool(self._waiting or self._left or self._failure)

    def _put(self, request: Request | Garbage) -> Reply | Ended:
        if self._ended is not None:
            return self._ended
        call = _Call(request)
        self._waiting.append(call)
        self._changed.notify_all()
        while call.answer is None:
            self._changed.wait()
        return call.answer

    def _hand_over(self, reply: Reply | None) -> None:
        if reply is not None and self._current is not None:
            self._current.answer = reply
            self._current = None
            self._changed.notify_all()
