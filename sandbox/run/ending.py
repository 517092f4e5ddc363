"""Why a run is over."""

from dataclasses import dataclass

from sandbox.model.errors import AgentError, SandboxError, SessionLostError
from sandbox.model.event import EndReason

NOT_THE_AGENTS = ("interrupted", "session_lost", "harness_error")
"""Ends that say nothing about what the agent has done."""


@dataclass(frozen=True, slots=True)
class Ending:
    """A reason, and a sentence where there is more to say."""

    reason: EndReason
    message: str = ""


def ending_of(error: BaseException) -> Ending:
    """Say what an exception makes of a run."""
    match error:
        case KeyboardInterrupt():
            return Ending("interrupted", "It was interrupted from outside.")
        case SessionLostError():
            return Ending("session_lost", error.message)
        case AgentError():
            return Ending("agent_exited", error.message)
        case SandboxError():
            return Ending("harness_error", error.message)
        case _:
            return Ending("harness_error", f"{type(error).__name__}: {error}")
