"""Why a run is over."""

from dataclasses import dataclass

from sandbox.agents.base import NOT_COUNTED, SEE_LOG, Departure
from sandbox.model.errors import AgentError, ModelError, SandboxError, SessionLostError
from sandbox.model.event import EndReason

NOT_THE_AGENTS = ("interrupted", "session_lost", "harness_error", "provider_error")
"""Ends that say nothing about what the agent has done."""


@dataclass(frozen=True, slots=True)
class Ending:
    """A reason, and a sentence where there is more to say."""

    reason: EndReason
    message: str = ""
    status: int | None = None


def departed(departure: Departure) -> Ending:
    """Say what it makes of a run that its agent asks for nothing more.

    ModelError where the agent asks not to be counted.
    """
    if departure.status == NOT_COUNTED:
        message = f"The agent asked not to be counted: it exited with status {NOT_COUNTED}."
        raise ModelError(message, SEE_LOG)
    return Ending("agent_exited", departure.says, departure.status)


def ending_of(error: BaseException) -> Ending:
    """Say what an exception makes of a run."""
    match error:
        case KeyboardInterrupt():
            return Ending("interrupted", "It was interrupted from outside.")
        case SessionLostError():
            return Ending("session_lost", error.message)
        case ModelError():
            return Ending("provider_error", error.message)
        case AgentError():
            return Ending("agent_exited", error.message)
        case SandboxError():
            return Ending("harness_error", error.message)
        case _:
            return Ending("harness_error", f"{type(error).__name__}: {error}")
