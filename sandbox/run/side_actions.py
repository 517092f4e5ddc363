"""Actions that an agent in the container asks for while its own one goes on.

What a process cannot do by itself: ask for permission, and use the world's tool servers. They come
through a port of the container's loopback, as lines of the agents' protocol.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.agents.base import Garbage, Withdrawal
from sandbox.agents.inside import SIDE_ACTIONS
from sandbox.agents.line_buffer import Lines
from sandbox.agents.requests import garbage
from sandbox.model import briefing
from sandbox.model.action import Request, RunAgent
from sandbox.model.connection import Connection
from sandbox.model.errors import SandboxError
from sandbox.model.event import ActionTaken, Observed
from sandbox.model.observation import ErrorCode, Observation
from sandbox.rules.monitors.steps import Step
from sandbox.run.actions.exec_events import Executions, refused_by
from sandbox.run.actions.outcome import refused
from sandbox.run.consequence import with_consequence
from sandbox.run.performer import Judged, Performer

Judge = Callable[[Request | Garbage], Judged | Observation]
"""Understands a request and decides on it, or refuses what cannot be understood."""


@dataclass(slots=True)
class SideActions:
    """Takes them one after the other, from threads of its connections."""

    performer: Performer
    executions: Executions
    judge: Judge
    lock: threading.Lock = field(default_factory=threading.Lock)

    def serve(self, connection: Connection) -> None:
        """Answer each line with one."""
        lines = Lines()
        while True:
            chunk = connection.receive()
            lines.feed(chunk)
            while lines.ready:
                asked = lines.ready.popleft()
                if isinstance(asked, Withdrawal):
                    asked = garbage(b"", "The line is not a request.")
                try:
                    reply = self.take(asked)
                except (SandboxError, KeyboardInterrupt):
                    return  # lost or interrupted, which the agent's own action says
                connection.send(reply.model_dump_json().encode() + b"\n")
            if not chunk:
                return

    def take(self, asked: Request | Garbage) -> briefing.Reply:
        """Perform an action, in its place among what happens in the container."""
        name = asked.action if isinstance(asked, Request) else "?"
        with self.lock:
            observation = self._observed(asked, name)
        return briefing.reply(asked.id, name, observation, self.performer.budget.turns_left)

    def _observed(self, asked: Request | Garbage, name: str) -> Observation:
        performer = self.performer
        if not isinstance(asked, Request) or name not in SIDE_ACTIONS:
            problem = asked.problem if isinstance(asked, Garbage) else _other(name)
            return refused(ErrorCode.BAD_REQUEST, problem)
        if ending := performer.budget.exhausted():
            return refused(ErrorCode.BUDGET_EXHAUSTED, ending.message)
        performer.budget.take_action()
        judged = self.judge(asked)
        self._tell(asked, Observation(status="ok"))  # what has happened until now
        decision = judged.judgement.decision if isinstance(judged, Judged) else None
        taken = ActionTaken(name=name, arguments=asked.arguments, decision=decision)
        performer.trace.append(taken, asked.id)
        if isinstance(judged, Judged):
            observation = performer.beside(judged, asked.id).observation
        else:
            observation = judged
        if (fact := refused_by(decision, "action")) is not None:
            performer.trace.append(fact, asked.id)
        step = Step(0, name, asked.arguments, observation)
        observation = with_consequence(observation, step, (), performer.trace.watch)
        observation, _ = performer.budget.within_output(observation, None)
        self._tell(asked, observation)
        performer.trace.append(Observed(name=name, observation=observation), asked.id)
        return observation

    def _tell(self, asked: Request, told: Observation) -> None:
        """Record what has happened in the container, and what the agent was shown."""
        performer = self.performer
        performer.facts.told(asked.action, asked.arguments, told)
        events = [*self.executions.take(RunAgent.name), *performer.route.take()]
        performer.trace.append_all(events)


def _other(name: str) -> str:
    return f"{name!r} is done by your own means here; asked for can be {', '.join(SIDE_ACTIONS)}."
