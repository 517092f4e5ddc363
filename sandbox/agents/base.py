"""The contract between the run loop and whatever acts.

The loop drives: it briefs the agent once, then asks for the next request, handing over the reply
to the one before, until the agent or the run ends. An agent that is called from elsewhere (a
server, a person at a terminal) waits in `next` until it has a request.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from sandbox.model.action import Request
from sandbox.model.briefing import Briefing, Ended, Reply
from sandbox.model.event import Claimed
from sandbox.model.usage import ModelUsage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Garbage:
    """Something an agent said that is not a request."""

    problem: str
    """What is wrong with it, in a sentence for the agent."""
    excerpt: str
    """How it begins."""
    id: str | None = None
    """Its id, where one can be made out."""
    text: str = ""
    """All of it, where it is text."""


NOT_COUNTED = 75
"""An agent's exit status where what it needs is not there: EX_TEMPFAIL of sysexits(3)."""

SEE_LOG = "agent.log in the run's folder has what it said."


@dataclass(frozen=True, slots=True)
class Departure:
    """How an agent ended that asks for nothing more."""

    says: str
    """A sentence."""
    status: int | None = None
    """Of its program, as `Popen.returncode`; None where there is none, or it goes on."""


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """An agent's word that its run is not to be counted, for what it needs is not there."""

    reason: str


class Agent(Protocol):
    """Who acts in a run. Used for one run, by one thread."""

    @property
    def name(self) -> str:
        """How the trace calls it."""

    def begin(self, briefing: Briefing) -> None:
        """Start; AgentError where that is impossible."""

    def next(self, reply: Reply | None, timeout: float) -> Request | Garbage | None:
        """Take the reply to the last request and return the next one; None once it has ended.

        The first call has no reply. TimeoutError after `timeout` seconds without a request: the
        reply has been taken by then, and `next` may be called again, without it.
        """

    def ending(self) -> Departure:
        """Say how it ended, after `next` has returned None."""

    def close(self, reply: Reply | None, ended: Ended) -> None:
        """Tell it that the run is over and release everything; also where `begin` failed.

        `reply` answers its last request, where `next` has not handed it over.
        """


@runtime_checkable
class Cancelling(Protocol):
    """An agent that can take back a request while it is carried out."""

    def cancel_with(self, cancel: Callable[[str], None]) -> None:
        """Learn, before `begin`, what ends the request with an id; any thread may call it."""


@runtime_checkable
class Claiming(Protocol):
    """An agent that says what it thinks, plans and uses, beside what it does."""

    def claim_with(self, claim: Callable[[Claimed], None]) -> None:
        """Learn, before `begin`, who records that; any thread may call it, also after the end."""


@runtime_checkable
class Metered(Protocol):
    """An agent that learns only at its end what its model has used."""

    def used(self) -> ModelUsage | None:
        """What no request has told, after `close`; None where nothing tells."""


OPTIONAL = (Cancelling, Claiming, Metered)
"""What an agent may be able to do besides acting."""


class Wrapped:
    """An agent around another one; it passes everything on, and is itself able to do nothing else.

    What the inner agent can do besides acting is found by `able`.
    """

    def __init__(self, agent: Agent) -> None:
        self.inner = agent

    @property
    def name(self) -> str:
        """The inner agent's own."""
        return self.inner.name

    def begin(self, briefing: Briefing) -> None:
        """Start the inner agent."""
        self.inner.begin(briefing)

    def next(self, reply: Reply | None, timeout: float) -> Request | Garbage | None:
        """Hand a reply over; return the next request."""
        return self.inner.next(reply, timeout)

    def ending(self) -> Departure:
        """Say how the inner agent ended."""
        return self.inner.ending()

    def close(self, reply: Reply | None, ended: Ended) -> None:
        """End the inner agent."""
        self.inner.close(reply, ended)


def able(agent: Agent, kind: type[T]) -> T | None:
    """Return who of an agent and those it wraps can do what one of `OPTIONAL` says, if one can."""
    while not isinstance(agent, kind):
        if not isinstance(agent, Wrapped):
            return None
        agent = agent.inner
    return agent
