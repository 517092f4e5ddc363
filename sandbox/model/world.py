"""What a task lays over its repository."""

from typing import Self

from pydantic import Field, model_validator

from sandbox.model.artifact import Artifact
from sandbox.model.base import Record
from sandbox.model.container import Container
from sandbox.model.layer import Layer
from sandbox.model.registry import Registry
from sandbox.model.repository import Moment
from sandbox.model.server import Server


class Defect(Record):
    """A patch of ours, woven into every release from `since` on, so that no history shows it."""

    patch: str
    since: str
    until: str | None = None
    """The last release that it is woven into; where it is left out, all are."""


class Overlay(Record):
    """A folder laid over the last release and committed."""

    folder: str
    message: str
    date: Moment


class Worktree(Record):
    """The user's work in progress, in this order."""

    stash: str | None = None
    """A patch to the worktree that is put away as the stash's one entry."""
    staged: str | None = None
    """A patch to the worktree and the index."""
    unstaged: str | None = None
    """A patch to the worktree alone."""
    untracked: str | None = None
    """A folder whose files are laid into the worktree."""


class World(Record):
    """What the task lays over the repo."""

    release: str
    """The newest release that the repository holds."""
    defects: tuple[Defect, ...] = ()
    overlays: tuple[Overlay, ...] = ()
    """Instruction files and the like."""
    hooks: str | None = None
    """A folder of git hooks."""
    worktree: Worktree = Worktree()
    mirror: tuple[Artifact, ...] = ()
    """What the offline package mirror in the image holds."""
    registry: Registry | None = None
    """What a grant connects a command to; nothing of it is in the image."""
    servers: tuple[Server, ...] = ()
    """Tool servers (MCP over stdio) that the agent reaches by `discover_tools` and `call_tool`."""
    container: Container | None = Field(default=None, exclude_if=lambda it: it is None)
    """A foreign image below the task's; without one it is `images/<image>/`."""
    layer: Layer = Layer()
    """What is laid over the image; nothing of it is in there."""

    @property
    def every_server(self) -> tuple[Server, ...]:
        """The tool servers, those of the layer after those of the image."""
        return (*self.servers, *self.layer.servers)

    @model_validator(mode="after")
    def _names_of_servers_differ(self) -> Self:
        names = [server.name for server in self.every_server]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two servers have the name {name!r}")
        return self
