"""What is laid over a task's image before the agent starts: commits, files and tool servers."""

import posixpath
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from sandbox.model.atom import Atom
from sandbox.model.awaited import awaited
from sandbox.model.base import Record
from sandbox.model.graph import NAME
from sandbox.model.repository import Moment
from sandbox.model.server import Server


def _stays_below(path: str) -> str:
    if path.startswith("/") or posixpath.normpath(path) != path or path.split("/")[0] == "..":
        raise ValueError(f"{path!r} leaves its place: write a plain path below the folder")
    if not path.isprintable() or '"' in path:
        raise ValueError(f"{path!r} holds what is not a plain character")
    if path in ("", ".") or path.split("/")[0] == ".git":
        raise ValueError(f"{path!r} is not a place for a file of a layer")
    return path


MOVING = ("changed", "tested", "committed", "index_changed", "ref_moved", "stashed", "shown")
"""Facts that a move can follow."""

Hook = Literal["pre-commit", "commit-msg"]
"""Those that an ordinary commit runs and that can refuse it."""

Below = Annotated[str, AfterValidator(_stays_below)]
"""A path below the worktree or a server's folder."""


class LaidFile(Record):
    """A text file."""

    path: Below
    text: str
    append: bool = False
    """Whether the text comes behind what the file holds; otherwise there must be no such file."""
    beside_edits: bool = Field(default=False, exclude_if=lambda it: not it)
    """Whether the user has edits in the file, not staged, which stay and are not committed."""


class LaidCommit(Record):
    """Files that the repository holds in a commit of its own."""

    message: str = Field(min_length=1)
    date: Moment
    files: tuple[LaidFile, ...] = Field(min_length=1)


class LaidServer(Server):
    """A tool server with its files, which are laid into its folder and closed to the agent."""

    files: dict[Below, str] = {}


def _follows_a_fact(atom: Atom) -> Atom:
    return awaited(atom, MOVING, "a move")


class Move(Record):
    """What the user does to files of theirs while the run goes on, once."""

    id: str = Field(pattern=NAME)
    after: Annotated[Atom, AfterValidator(_follows_a_fact)]
    """The fact that it follows; those of the moves before it have come."""
    files: dict[Below, str]
    """What each holds then."""


class Layer(Record):
    """Commits are made first, on the branch that is checked out; then come the user's files."""

    commits: tuple[LaidCommit, ...] = ()
    hooks: dict[Hook, str] | None = Field(default=None, exclude_if=lambda it: it is None)
    """Git hooks by name, which the repository does not have yet."""
    files: tuple[LaidFile, ...] = ()
    """The user's: not committed, not staged."""
    servers: tuple[LaidServer, ...] = ()
    moves: tuple[Move, ...] = ()
    """In order; each waits for the one before it."""

    @property
    def every_file(self) -> Iterator[LaidFile]:
        """Files of the worktree, in the order in which they are written."""
        for commit in self.commits:
            yield from commit.files
        yield from self.files

    @model_validator(mode="after")
    def _writes_each_file_once(self) -> Self:
        new = [file.path for file in self.every_file if not file.append]
        for path in new:
            if new.count(path) > 1:
                raise ValueError(f"{path} is laid down twice")
        users = {file.path for file in self.files}
        for move in self.moves:
            if others := sorted(move.files.keys() - users):
                raise ValueError(
                    f"move {move.id}: {others[0]} is not a file of the user's that the layer lays"
                )
        for server in self.servers:
            if server.folder is not None:
                raise ValueError(f"server {server.name}: a layer's server has `files`, no `folder`")
        return self
