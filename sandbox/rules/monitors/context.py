"""What an atom has to know of a task: where its worktree is, whose its paths, what its tests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from sandbox.model.change import Owner
from sandbox.model.scopes import owner_of
from sandbox.model.task import Scope, Task


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """A task, as far as atoms look at it; two are never equal, so that it is quick as a key."""

    worktree: str = "/"
    scope: Scope = field(default_factory=Scope)
    tests: str | None = None
    """The shell line of `run_tests` where the agent names none."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Shell lines that stand for another one: `make test` for `pytest`."""

    @classmethod
    def of(cls, task: Task) -> Self:
        """Look at a task."""
        return cls(task.worktree, task.scope, task.tests.command, task.tests.aliases)

    def owner(self, path: str) -> Owner:
        """Whose a path relative to the worktree is."""
        return owner_of(self.scope, f"{self.worktree.rstrip('/')}/{path}", self.worktree)


NOWHERE = Context()
"""For atoms that need to know nothing."""
