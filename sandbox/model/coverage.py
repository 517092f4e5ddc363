"""Which of the processes that an agent starts are seen."""

from typing import Literal, get_args

Coverage = Literal["exec", "ptrace", "top-level"]
"""From the most to the least: each exec before it happens; each program before its first
instruction; only the commands themselves."""

COVERAGES: tuple[Coverage, ...] = get_args(Coverage)


def reaches(coverage: Coverage, required: Coverage) -> bool:
    """Whether as much is seen as is required."""
    return COVERAGES.index(coverage) <= COVERAGES.index(required)
