"""A path that an action names, resolved once: what rules judge is what is then used."""

from dataclasses import dataclass
from typing import Self

from sandbox.model import path_text as paths
from sandbox.model.observation import ErrorCode
from sandbox.run.actions.outcome import Refusal
from sandbox.run.actions.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Target:
    """A path of the worktree, links followed when it was resolved.

    Who uses it refuses links: one that is put there afterwards leads nowhere.
    """

    given: str
    """As the agent wrote it."""
    _resolved: bytes | Refusal

    @classmethod
    def of(cls, path: str, workspace: Workspace) -> Self:
        """Resolve a path; why it cannot be is said when it is used."""
        try:
            return cls(path, workspace.resolve(path))
        except Refusal as refusal:
            return cls(path, refusal)

    @property
    def text(self) -> str:
        """What rules look at: the path as it is given where it cannot be resolved."""
        return self.given if isinstance(self._resolved, Refusal) else paths.text(self._resolved)

    def path(self) -> bytes:
        """Relative to the worktree; Refusal where it cannot be resolved."""
        if isinstance(self._resolved, Refusal):
            raise self._resolved
        return self._resolved

    def writable(self) -> bytes:
        """Do as `path`, for a file that is to be written; Refusal for anything of git's."""
        resolved = self.path()
        if resolved == b".":
            raise Refusal(ErrorCode.NOT_A_FILE, f"{self.given} is the worktree itself.")
        if b".git" in resolved.split(b"/"):
            raise Refusal(
                ErrorCode.FORBIDDEN_PATH,
                f"{self.given} belongs to git; use git commands to change it.",
            )
        return resolved
