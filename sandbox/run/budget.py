"""What a run may take: actions, time, output, disk, and the patience with lines that are none."""

import time
from dataclasses import dataclass

from sandbox.model.allowance import Allowance
from sandbox.model.briefing import Remaining
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.task import RunLimits
from sandbox.model.usage import ModelUsage
from sandbox.run.actions.outcome import refused
from sandbox.run.disk_watch import DiskWatch
from sandbox.run.ending import Ending

GARBAGE_LIMIT = 10
"""Lines in a row that are no requests, after which a run ends."""
CLOSE = 4 << 20
"""Bytes of output up to which a run's bound is one that an agent has to mind."""


@dataclass(slots=True)
class Budget:
    """Counts what a run has taken."""

    limits: RunLimits
    deadline: float
    """By the monotonic clock."""
    disk: DiskWatch
    allowance: Allowance
    turns: int = 0
    output: int = 0
    garbage: int = 0
    tokens: int = 0
    cost: float = 0.0
    waited: float = 0.0
    """Seconds in the queue of a busy machine, which are not the agent's."""

    def add_waiting(self, seconds: float) -> None:
        """Give back what was waited for a turn."""
        self.waited += seconds
        self.deadline += seconds

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self.deadline - time.monotonic())

    @property
    def turns_left(self) -> int:
        """Actions that may still be taken."""
        return max(0, self.limits.turns - self.turns)

    @property
    def output_left(self) -> int | None:
        """Bytes that may still be shown; None where there are so many that nobody counts."""
        most = self.limits.output_bytes
        return max(0, most - self.output) if most <= CLOSE else None

    def remaining(self, bounded: dict[str, int]) -> Remaining:
        """Say what is left of it all, and of what rules bound."""
        return Remaining(self.turns_left, self.output_left, int(self.left), bounded or None)

    def exhausted(self) -> Ending | None:
        """Say what leaves no further action, if anything does."""
        if self.disk.exceeded:
            return Ending("disk_limit", self.disk.exceeded)
        if ending := self.out_of_time():
            return ending
        if self.turns >= self.limits.turns:
            return Ending("turn_limit", f"The {self.limits.turns} actions are used up.")
        most = self.allowance
        if most.tokens is not None and self.tokens >= most.tokens:
            return Ending("token_limit", f"The {most.tokens:,} tokens are used up.")
        if most.cost is not None and self.cost >= most.cost:
            return Ending("cost_limit", f"The cost of {most.cost:g} is reached.")
        return None

    def out_of_time(self) -> Ending | None:
        """Say so where the deadline is over."""
        if self.left:
            return None
        return Ending("time_limit", f"The {self.limits.seconds:g} seconds are over.")

    def take_usage(self, usage: ModelUsage | None) -> None:
        """Count what the agent says that its model has used for a request."""
        if usage is not None:
            self.tokens += usage.input_tokens + usage.output_tokens
            self.cost += usage.cost or 0.0

    def take_action(self) -> None:
        """Count an action that could be understood."""
        self.turns += 1
        self.garbage = 0

    def take_refused(self, observation: Observation) -> Ending | None:
        """Count one that could not; end the conversation with an agent that speaks no protocol."""
        self.turns += 1
        bad = observation.error_code is ErrorCode.BAD_REQUEST
        self.garbage = self.garbage + 1 if bad else 0
        if self.garbage < GARBAGE_LIMIT:
            return None
        return Ending("agent_garbage", f"{GARBAGE_LIMIT} lines in a row were no requests.")

    def take_output(self, observation: Observation) -> Ending | None:
        """Count what the agent is told; say so where it is more than may still be shown."""
        size, most = len(observation.model_dump_json().encode()), self.limits.output_bytes
        left = max(0, most - self.output)
        self.output += size
        if size <= left:
            return None
        return Ending(
            "output_limit",
            f"This reply is {size:,} bytes long, and of {most:,} bytes of output {left:,} were "
            "left: it is not shown.",
        )


def over(ending: Ending) -> Observation:
    """Tell the agent that nothing is done or shown any more, and why."""
    return refused(ErrorCode.BUDGET_EXHAUSTED, f"{ending.message} The run is over.")
