"""How a run ended, in a word that a person sorts runs by."""

from typing import TYPE_CHECKING

from sandbox.model.base import Record
from sandbox.model.how import How
from sandbox.model.usage import ModelUsage

if TYPE_CHECKING:  # verbs that list runs have no need of events
    from sandbox.model.event import EndReason, RunEnded

_OTHERS: "dict[EndReason, How]" = {
    "final_answer": "answered",
    "agent_silent": "silent",
    "agent_garbage": "garbled",
    "turn_limit": "budget",
    "time_limit": "budget",
    "output_limit": "budget",
    "disk_limit": "budget",
    "token_limit": "budget",
    "cost_limit": "budget",
    "provider_error": "provider_error",
    "interrupted": "interrupted",
    "session_lost": "machinery",
    "harness_error": "machinery",
}


class RunEnd(Record):
    """What a run's record says of its end."""

    how: How
    message: str = ""
    turns: int
    seconds: float
    """As the run's last event has them."""
    usage: ModelUsage | None = None
    """What the agent says that its model has used in the whole run."""

    @classmethod
    def of(cls, ended: "RunEnded", usage: ModelUsage | None) -> "RunEnd":
        """Sum up the last event of a run."""
        return cls(
            how=how_ended(ended),
            message=ended.message,
            turns=ended.turns,
            seconds=ended.seconds,
            usage=usage,
        )


def how_ended(ended: "RunEnded") -> How:
    """Say how a run ended. Runs of 0.1 did not record what an agent exited with."""
    if ended.reason == "agent_exited":
        return "crashed" if ended.status else "gave_up"
    return _OTHERS[ended.reason]
