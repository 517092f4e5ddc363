"""Harness mode `minimal`: an agent whose requests are repaired before they are judged.

It spells, it does not think: other names of actions and arguments, plain language that asks for one
action, types of arguments, the spelling of the final fields, and errors that say more. Nothing of a
task is known to it but the briefing. Each repair is in the trace.
"""

import json

from pydantic import JsonValue

from sandbox.agents.answers import canonical, texts
from sandbox.agents.base import Agent, Garbage, Wrapped
from sandbox.agents.repairs import Repaired, repaired, routed
from sandbox.model.action import FinalAnswer, Request
from sandbox.model.briefing import Briefing, Ended, Reply
from sandbox.model.observation import ErrorCode

EXPLAINED = (ErrorCode.BAD_ARGUMENTS, ErrorCode.BAD_REQUEST, ErrorCode.UNKNOWN_TOOL)


class MinimalAgent(Wrapped):
    """Repairs what an agent asks for, and explains to it what was refused."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent)
        self._briefing: Briefing | None = None
        self._asked: str | None = None
        self._seen: set[str] = set()
        self._routed = 0

    def begin(self, briefing: Briefing) -> None:
        """Start the agent."""
        self._briefing = briefing
        self.inner.begin(briefing)

    def next(self, reply: Reply | None, timeout: float) -> Request | Garbage | None:
        """Hand a reply over, explained; return the next request, repaired."""
        asked = self.inner.next(self._explained(reply), timeout)
        if isinstance(asked, Garbage):
            self._routed += 1
            asked = routed(asked, self._routed)
        if not isinstance(asked, Request):
            self._asked = None
            return asked
        asked = self._finished(repaired(asked, self._known.worktree))
        self._asked = asked.action
        return asked

    def close(self, reply: Reply | None, ended: Ended) -> None:
        """End the agent."""
        self.inner.close(self._explained(reply), ended)

    @property
    def _known(self) -> Briefing:
        if self._briefing is None:
            raise RuntimeError("`begin` comes first")
        return self._briefing

    def _explained(self, reply: Reply | None) -> Reply | None:
        """Add to an error what the action takes, and remember what is seen."""
        if reply is None:
            return None
        self._seen.update(texts(reply.result))
        if reply.error_code in EXPLAINED:
            more = self._usage()
        elif reply.error_code is ErrorCode.APPROVAL_REQUIRED:
            more = "Ask for it by the action request_approval, or do without."
        else:
            return reply
        return reply.model_copy(update={"message": f"{reply.message} {more}"})

    def _usage(self) -> str:
        actions = {action.name: action for action in self._known.actions}
        action = actions.get(self._asked or "")
        if action is None:
            return f"The actions are: {', '.join(actions)}."
        return f"The arguments of {action.name}, as JSON Schema: {json.dumps(action.arguments)}"

    def _finished(self, asked: Request) -> Request:
        """Spell the fields of a final answer as the briefing does."""
        if asked.action != FinalAnswer.name:
            return asked
        wanted = self._known.final
        given: JsonValue = asked.arguments.get("fields", dict(asked.arguments))
        if not isinstance(given, dict):
            return asked
        fields = canonical(given, wanted, frozenset(self._seen), self._known.worktree)
        before = json.dumps(asked.arguments, sort_keys=True)
        if json.dumps({"fields": fields}, sort_keys=True) == before:
            return asked
        notes = (*getattr(asked, "repairs", ()), "the fields of the answer are spelt as asked for")
        update = {"arguments": {"fields": fields}, "repairs": notes}
        return Repaired(**{**dict(asked), **update})
