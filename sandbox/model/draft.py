"""What a task of a seed is laid out as."""

from typing import Literal

Draft = Literal[
    "approved", "backlog", "bare", "hooked", "loop", "ranked", "resume", "ticket", "tools"
]
"""A folder of `sandbox/tasks/drafts`."""
