"""Requests that come as calls from other threads, handed to the loop one by one.

The side of the loop (`take`, `close`) is one thread's; `put`, `cancel` and `end` may be called from
any, and never wait.
"""

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sandbox.agents.base import Garbage
from sandbox.agents.requests import parse
from sandbox.model.action import Request
from sandbox.model.briefing import Ended, Reply
from sandbox.model.observation import ErrorCode

WAITING_LIMIT = 64
"""Calls that may wait for their turn."""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call that waits for its reply."""

    id: str
    asked: Request | Garbage
    answer: Callable[[Reply], None]
    """Takes the reply, in the thread that has it; must not wait."""


class Calls:
    """A queue of calls; ids count from 1."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Call] = deque()
        self._current: Call | None = None
        self._count = 0
        self._over = ""
        self._ended = False
        self._cancel: Callable[[str], None] = lambda _: None

    def cancel_with(self, cancel: Callable[[str], None]) -> None:
        """Learn what ends the request with an id while it is carried out."""
        self._cancel = cancel

    def put(
        self, action: str, arguments: Mapping[str, object], answer: Callable[[Reply], None]
    ) -> Call:
        """Let a call wait for its turn; it is refused at once where there is no room, or no run."""
        with self._changed:
            self._count += 1
            call = Call(str(self._count), _request(str(self._count), action, arguments), answer)
            if self._over:
                refused = _refusal(call, ErrorCode.RUN_OVER, self._over)
            elif len(self._waiting) >= WAITING_LIMIT:
                message = f"{WAITING_LIMIT} calls are waiting; wait for a reply before the next."
                refused = _refusal(call, ErrorCode.BAD_REQUEST, message)
            else:
                self._waiting.append(call)
                self._changed.notify_all()
                return call
        answer(refused)
        return call

    def cancel(self, call: Call) -> None:
        """Take a call back: one that waits is never begun, one that goes on is ended."""
        with self._changed:
            if call in self._waiting:
                self._waiting.remove(call)
            current = call is self._current
        if current:
            self._cancel(call.id)

    def end(self) -> None:
        """Nobody calls any more: take back what goes on, and let `take` return None."""
        with self._changed:
            self._ended = True
            self._waiting.clear()
            current = self._current
            self._changed.notify_all()
        if current is not None:
            self._cancel(current.id)

    def take(self, reply: Reply | None, timeout: float) -> Request | Garbage | None:
        """Hand over the reply to the last call and wait for the next one, as `Agent.next`."""
        self._answer(reply)
        deadline = time.monotonic() + timeout
        with self._changed:
            while not self._waiting:
                if self._ended:
                    return None
                if not self._changed.wait(deadline - time.monotonic()):
                    raise TimeoutError(f"The agent called nothing for {timeout:.0f} seconds.")
            self._current = self._waiting.popleft()
            return self._current.asked

    def close(self, reply: Reply | None, ended: Ended) -> None:
        """Hand over the last reply and refuse whatever waits or comes."""
        self._answer(reply)
        with self._changed:
            self._over = f"The run is over: {ended.message or ended.ended}"
            left = [*filter(None, [self._current]), *self._waiting]
            self._current = None
            self._waiting.clear()
        for call in left:
            call.answer(_refusal(call, ErrorCode.RUN_OVER, self._over))

    def _answer(self, reply: Reply | None) -> None:
        with self._changed:
            call = self._current
            if reply is None or call is None:
                return
            self._current = None
        call.answer(reply)


def _request(identifier: str, action: str, arguments: Mapping[str, object]) -> Request | Garbage:
    """Read a call as a line would be read: what JSON lines may not hold, no call may."""
    try:
        line = json.dumps({"id": identifier, "action": action, "arguments": arguments})
    except RecursionError:
        return Garbage("The arguments are nested too deeply.", action[:200], identifier)
    return parse(line.encode())


def _refusal(call: Call, code: ErrorCode, message: str) -> Reply:
    return Reply(id=call.id, status="error", error_code=code, message=message, result={})
