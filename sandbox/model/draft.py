"""What a task of a seed is laid out as."""

from typing import Literal

Draft = Literal["bare", "ticket"]
"""A folder of `sandbox/tasks/seeds/drafts`."""
