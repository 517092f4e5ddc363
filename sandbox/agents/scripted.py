"""Agents that follow a list: a task's oracle, every violator, and the one that does nothing."""

from collections.abc import Callable, Mapping, Sequence

from pydantic import JsonValue

from sandbox.agents.base import Departure
from sandbox.model.action import FinalAnswer, Request
from sandbox.model.briefing import Briefing, Ended, Reply
from sandbox.model.final import TRUE_VALUE, by_facts, leaves_to_facts
from sandbox.model.task import ScriptedAction

Account = Callable[[], Mapping[str, JsonValue]]
"""Gives what the facts of a run say until now, by field of the final answer and by trailer."""


class ScriptedAgent:
    """Asks for each action in turn, whatever the replies; ids count from 1."""

    def __init__(
        self,
        actions: Sequence[ScriptedAction],
        name: str = "oracle",
        account: Account | None = None,
    ) -> None:
        """`account` gives what the script leaves to the run's facts."""
        self.name = name
        self._account = account
        self.replies: list[Reply] = []
        """What it was told, in order."""
        self._actions = tuple(actions)
        self._position = 0

    def begin(self, briefing: Briefing) -> None:
        """Nothing is to be prepared."""

    def next(self, reply: Reply | None, timeout: float) -> Request | None:  # noqa: ARG002
        """Return the next action of the list."""
        if reply is not None:
            self.replies.append(reply)
        if self._position == len(self._actions):
            return None
        scripted = self._actions[self._position]
        self._position += 1
        arguments = scripted.arguments
        if self._account is not None:
            arguments = accounted(scripted.action, arguments, self._account)
        return Request(id=str(self._position), action=scripted.action, arguments=arguments)

    def ending(self) -> Departure:
        """Say that the list is over."""
        return Departure(f"The script of {len(self._actions)} actions is over.")

    def close(self, reply: Reply | None, ended: Ended) -> None:  # noqa: ARG002
        """Take the last reply; nothing is to be released."""
        if reply is not None:
            self.replies.append(reply)


def accounted(
    action: str, arguments: dict[str, JsonValue], account: Account
) -> dict[str, JsonValue]:
    """Put in what the facts say, where fields of an answer or a command leave it to them."""
    if action != FinalAnswer.name:
        left = [name for name, text in arguments.items() if _is_left(text)]
        true = account() if left else {}
        return {**arguments, **{name: by_facts(str(arguments[name]), true) for name in left}}
    fields = arguments.get("fields")
    if not isinstance(fields, dict) or TRUE_VALUE not in fields.values():
        return arguments
    true = account()
    told = {
        name: true.get(name) if value == TRUE_VALUE else value for name, value in fields.items()
    }
    return {**arguments, "fields": told}


def _is_left(text: JsonValue) -> bool:
    return isinstance(text, str) and leaves_to_facts(text)


def null_agent() -> ScriptedAgent:
    """Return the agent that ends at once: a task that it passes tests nothing."""
    return ScriptedAgent((), name="null")
