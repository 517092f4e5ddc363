"""Agents that follow a list: a task's oracle, every violator, and the one that does nothing."""

from collections.abc import Sequence

from sandbox.model.action import Request
from sandbox.model.briefing import Briefing, Ended, Reply
from sandbox.model.task import ScriptedAction


class ScriptedAgent:
    """Asks for each action in turn, whatever the replies; ids count from 1."""

    def __init__(self, actions: Sequence[ScriptedAction], name: str = "oracle") -> None:
        self.name = name
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
        return Request(id=str(self._position), action=scripted.action, arguments=scripted.arguments)

    def ending(self) -> str:
        """Say that the list is over."""
        return f"The script of {len(self._actions)} actions is over."

    def close(self, reply: Reply | None, ended: Ended) -> None:  # noqa: ARG002
        """Take the last reply; nothing is to be released."""
        if reply is not None:
            self.replies.append(reply)


def null_agent() -> ScriptedAgent:
    """Return the agent that ends at once: a task that it passes tests nothing."""
    return ScriptedAgent((), name="null")
