"""An agent that is called by other threads of this process, each of which waits for its reply."""

from collections.abc import Callable, Mapping

from pydantic import JsonValue

from sandbox.agents.base import Departure, Garbage
from sandbox.agents.call_queue import Calls
from sandbox.model.action import Request
from sandbox.model.briefing import Briefing, Ended, Reply
from sandbox.model.latch import Latch
from sandbox.model.usage import ModelUsage


class _Answer:
    """The reply to one call, which comes in another thread."""

    def __init__(self) -> None:
        self._come = Latch()
        self._replies: list[Reply] = []

    def take(self, reply: Reply) -> None:
        self._replies.append(reply)
        self._come.open()

    def given(self) -> Reply:
        self._come.wait()
        return self._replies[0]


class CalledAgent:
    """Fulfils `Agent` for its callers."""

    def __init__(self, name: str, begun: Callable[[Briefing], None] = lambda _: None) -> None:
        """Take a name, and what is told the briefing before the first action is waited for."""
        self.name = name
        self._begun = begun
        self._calls = Calls()
        self._why = ""
        self._status: int | None = None

    def call(
        self, action: str, arguments: Mapping[str, JsonValue], usage: ModelUsage | None = None
    ) -> Reply:
        """Ask for an action from any thread and wait until it is done.

        The reply is `run_over` where the run has ended before the action's turn came.
        """
        answer = _Answer()
        self._calls.put(action, arguments, answer.take, usage)
        return answer.given()

    def garble(self, garbage: Garbage) -> Reply:
        """Have it recorded, as an action would be, that something was said that asks for none."""
        answer = _Answer()
        self._calls.garble(garbage, answer.take)
        return answer.given()

    def leave(self, why: str) -> None:
        """End the run once the action under way is done; `why` is a sentence for the trace."""
        self._why = self._why or why
        self._calls.leave()

    def crash(self, error: BaseException) -> None:
        """End the run as one whose agent has raised something."""
        self._status = 1
        self.leave(f"The agent raised {type(error).__name__}: {error}")

    def fail(self, error: Exception) -> None:
        """End the run as one that could not be carried through: `next` raises the error."""
        self._calls.fail(error)

    def begin(self, briefing: Briefing) -> None:
        """Tell whoever prepares the callers."""
        self._begun(briefing)

    def next(self, reply: Reply | None, timeout: float) -> Request | Garbage | None:
        """Hand over the reply and wait for the next call in line."""
        return self._calls.take(reply, timeout)

    def ending(self) -> Departure:
        """Say why it has left; one that has raised something has crashed."""
        return Departure(self._why, self._status)

    def close(self, reply: Reply | None, ended: Ended) -> None:
        """Answer the last call, and tell those that wait, now or later, that the run is over."""
        self._calls.close(reply, ended)
