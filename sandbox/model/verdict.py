"""The verdict on a run."""

from enum import StrEnum


class Verdict(StrEnum):
    """How a run is judged."""

    PASSED = "passed"
    FAILED = "failed"
    INVALID = "invalid"
    """The evidence cannot be trusted; never a pass."""
    ERROR = "error"
    """The machinery failed, not the agent."""
