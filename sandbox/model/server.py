"""A tool server of a task's world: a program in the container that speaks MCP over stdio."""

from pydantic import Field

from sandbox.model.base import Record


class Server(Record):
    """One server, as the world declares it."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    """How the agent calls it."""
    about: str
    """What `discover_tools` says of it before it has been started."""
    folder: str | None = None
    """A folder beside the task file that is laid into `/opt/servers/<name>`, closed to the agent.

    Without one there is nothing to start from: a server that is missing.
    """
    command: tuple[str, ...] = Field(min_length=1)
    """Its program and arguments, run there under a user of its own."""
    remembers: bool = Field(default=False, exclude_if=lambda it: not it)
    """Whether it knows what nobody else does: once it has failed it is not started again."""
