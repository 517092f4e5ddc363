"""Requests that come as calls from other threads, handed to the loop one by one.

The side of the loop (`take`, `close`) is one thread's; the others may be called from any, and never
wait.
"""

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sandbox.agents.base import Garbage
from sandbox.agents.requests import parse
from sandbox.model.action import Request
from sandbox.model.briefing import Ended, Reply
from sandbox.model.observation import ErrorCode
from sandbox.model.usage import ModelUsage

SLICE_SECONDS = 0.2
"""How long is waited at a stretch: an interrupt that the kernel gives to another thread does not
wake this one, but is noticed when it wakes."""

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
        # Taken by itself, and not by way of the condition, whose own code may be interrupted
        # between taking it and the block that gives it back.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._waiting: deque[Call] = deque()
        self._current: Call | None = None
        self._count = 0
        self._over = ""
        self._left = False
        self._failure: Exception | None = None
        self._cancel: Callable[[str], None] = lambda _: None

    def cancel_with(self, cancel: Callable[[str], None]) -> None:
        """Learn what ends the request with an id while it is carried out."""
        self._cancel = cancel

    def put(
        self,
        action: str,
        arguments: Mapping[str, object],
        answer: Callable[[Reply], None],
        usage: ModelUsage | None = None,
    ) -> Call:
        """Let a call wait for its turn; it is refused at once where there is no room, or no run."""
        return self._put(lambda identifier: _request(identifier, action, arguments, usage), answer)

    def garble(self, garbage: Garbage, answer: Callable[[Reply], None]) -> Call:
        """Put what was said and is no call: it is recorded, and counts, as one would."""
        return self._put(lambda identifier: replace(garbage, id=identifier), answer)

    def _put(
        self, ask: Callable[[str], Request | Garbage], answer: Callable[[Reply], None]
    ) -> Call:
        with self._lock:
            self._count += 1
            call = Call(str(self._count), ask(str(self._count)), answer)
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
        with self._lock:
            if call in self._waiting:
                self._waiting.remove(call)
            current = call is self._current
        if current:
            self._cancel(call.id)

    def leave(self) -> None:
        """Nothing is to be done any more: let `take` return None once what goes on is done."""
        with self._lock:
            self._left = True
            self._changed.notify_all()

    def end(self) -> None:
        """Nobody calls any more: as `leave`, and what goes on is taken back."""
        self.leave()
        with self._lock:
            current = self._current
        if current is not None:
            self._cancel(current.id)

    def fail(self, error: Exception) -> None:
        """Whoever calls cannot go on, by no fault of theirs: let `take` raise the error."""
        with self._lock:
            self._failure = self._failure or error
            self._changed.notify_all()

    def take(self, reply: Reply | None, timeout: float) -> Request | Garbage | None:
        """Hand over the reply to the last call and wait for the next one, as `Agent.next`."""
        self._answer(reply)
        deadline = time.monotonic() + timeout
        with self._lock:
            while (left := deadline - time.monotonic()) > 0:
                if self._changed.wait_for(self._moved, min(SLICE_SECONDS, left)):
                    break
            if self._failure is not None:
                raise self._failure
            if self._left:
                return None
            if not self._waiting:
                raise TimeoutError(f"The agent called nothing for {timeout:.0f} seconds.")
            self._current = self._waiting.popleft()
            return self._current.asked

    def close(self, reply: Reply | None, ended: Ended) -> None:
        """Hand over the last reply and refuse whatever waits or comes."""
        self._answer(reply)
        with self._lock:
            self._over = f"The run is over: {ended.message or ended.ended}"
            left = [*filter(None, [self._current]), *self._waiting]
            self._current = None
            self._waiting.clear()
        for call in left:
            call.answer(_refusal(call, ErrorCode.RUN_OVER, self._over))

    def _moved(self) -> bool:
        return bool(self._waiting or self._left or self._failure)

    def _answer(self, reply: Reply | None) -> None:
        with self._lock:
            call = self._current
            if reply is None or call is None:
                return
            self._current = None
        call.answer(reply)


def _request(
    identifier: str, action: str, arguments: Mapping[str, object], usage: ModelUsage | None
) -> Request | Garbage:
    """Read a call as a line would be read: what JSON lines may not hold, no call may."""
    try:
        line = json.dumps({"id": identifier, "action": action, "arguments": arguments})
    except RecursionError:
        return Garbage("The arguments are nested too deeply.", action[:200], identifier)
    asked = parse(line.encode())
    if usage is None or isinstance(asked, Garbage):
        return asked
    return asked.model_copy(update={"usage": usage})


def _refusal(call: Call, code: ErrorCode, message: str) -> Reply:
    return Reply(id=call.id, status="error", error_code=code, message=message, result={})
