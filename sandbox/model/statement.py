"""What a task file says for its proof: where facts are stated, which hunks are redundant."""

from pydantic import Field

from sandbox.model.base import Record

HISTORY = "history"
"""Where something is stated that a commit's message says, of those that HEAD comes from."""


class Statement(Record):
    """Words that tell the agent something that it is graded by."""

    says: str = Field(min_length=1)
    """The words as they stand there; line breaks and spaces count alike."""
    stated_in: str = Field(default="prompt", min_length=1)
    """`prompt`, `policy` (reasons that the agent is given), `history` (messages of commits), or a
    file of the repository."""
    facts: tuple[str, ...] = Field(min_length=1)
    """Names of what is graded, or globs over them."""
    follows: str = ""
    """How the facts follow, where the words do not hold their paths literally."""


class RedundantHunk(Record):
    """A part of the oracle's change without which its candidate still passes, rightly."""

    path: str = Field(min_length=1)
    """Relative to the worktree."""
    holds: str = Field(min_length=1)
    """Text of the hunk, by which it is found."""
    reason: str = Field(min_length=1)
