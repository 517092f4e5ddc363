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
from sandbox.model.briefing import Remaining
from sandbox.model.connection import Connection
from sandbox.model.errors import SandboxError
from sandbox.model.event import ActionTaken, Observed
from sandbox.model.observation import ErrorCode, Observation
from sandbox.rules.monitors.steps import Step
from sandbox.run.actions.exec_events import Executions, refused_by
from sandbox.run.actions.outcome import refused
from sandbox.run.consequence import with_consequence
from sandbox.run.performer import Judged, Performer

SIDE = "in-"
"""How ids of these actions begin in the trace."""

Judge = Callable[[Request | Garbage], Judged | Observation]
"""Understands a request and decides on it, or refuses what cannot be understood."""


GARBAGE_MOST = 100
"""Lines of one run that cannot be taken; from then on connections are closed without a word."""


@dataclass(slots=True)
class SideActions:
    """Takes them one after the other, from threads of its connections."""

    performer: Performer
    executions: Executions
    judge: Judge
    lock: threading.Lock = field(default_factory=threading.Lock)
    taken: int = 0
    """Actions; they are none of the run's turns, of which an agent in the container has two."""
    garbage: int = 0
    said: tuple[str, ...] = ()
    """What the user has said unasked, for the present reply."""

    def serve(self, connection: Connection) -> None:
        """Answer each line with one."""
        lines = Lines()
        while self.garbage < GARBAGE_MOST:
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
            self.said = ()
            observation = self._observed(asked, name)
            remaining = Remaining(self._left, seconds=int(self.performer.budget.left))
            return briefing.reply(asked.id, name, observation, remaining, self.said)

    @property
    def _left(self) -> int:
        return max(0, self.performer.budget.limits.turns - self.taken)

    def _observed(self, asked: Request | Garbage, name: str) -> Observation:
        performer = self.performer
        if not isinstance(asked, Request) or name not in SIDE_ACTIONS:
            self.garbage += 1
            problem = asked.problem if isinstance(asked, Garbage) else _other(name)
            return refused(ErrorCode.BAD_REQUEST, problem)
        if performer.trace.over:
            return refused(ErrorCode.RUN_OVER, "The run has ended.")
        if not self._left:
            self.garbage += 1
            return refused(ErrorCode.BUDGET_EXHAUSTED, "The actions are used up.")
        self.taken += 1
        # Its id is a name of the agent's, and others are the harness's own.
        asked = asked.model_copy(update={"id": f"{SIDE}{self.taken}"})
        judged = self.judge(asked)
        decision = judged.judgement.decision if isinstance(judged, Judged) else None
        taken = ActionTaken(name=name, arguments=asked.arguments, decision=decision)
        self._tell(asked, Observation(status="ok"), taken)
        if isinstance(judged, Judged):
            observation = performer.beside(judged, asked.id).observation
        else:
            observation = judged
        if (fact := refused_by(decision, "action")) is not None:
            performer.trace.append(fact, asked.id)
        step = Step(0, name, asked.arguments, observation)
        observation = with_consequence(observation, step, (), performer.trace.watch)
        if (beyond := performer.budget.take_output(observation)) is not None:
            observation = refused(ErrorCode.BUDGET_EXHAUSTED, beyond.message)
        self._tell(asked, observation, Observed(name=name, observation=observation))
        return observation

    def _tell(self, asked: Request, told: Observation, event: ActionTaken | Observed) -> None:
        """Record what has happened in the container until now, and then an event.

        Nothing is recorded any more where the run has ended meanwhile.
        """
        performer = self.performer
        # Not under the trace's lock: who decides on a process at this moment may want it.
        performer.facts.told(asked.action, asked.arguments, told)
        if isinstance(event, Observed):
            self.said = performer.facts.heard(asked.id)
        with performer.trace.lock:
            if not performer.trace.over:
                execs = self.executions.take(RunAgent.name, ongoing=True)
                performer.trace.append_all([*execs, *performer.route.take()])
                performer.trace.append(event, asked.id)


def _other(name: str) -> str:
    return f"{name!r} is done by your own means here; asked for can be {', '.join(SIDE_ACTIONS)}."
