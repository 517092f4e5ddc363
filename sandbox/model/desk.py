"""What a tool server of a world answers: data that `desk.pl` serves over MCP."""

from pydantic import Field, JsonValue

from sandbox.model.base import Record


class Reply(Record):
    """An answer; of a tool's replies the first that fits a call is given."""

    where: dict[str, str] = {}
    """By argument: the text that it must be."""
    after: str | None = None
    """A mark that an earlier reply has set."""
    before: str | None = None
    """A mark that none has set yet."""
    times: int | None = Field(default=None, ge=1)
    """How often it is given; without end where this is left out."""
    marks: tuple[str, ...] = ()
    """What it sets."""
    clears: tuple[str, ...] = Field(default=(), exclude_if=lambda it: not it)
    """What it takes back, before it sets anything."""
    error: bool = False
    """Whether the tool says that it failed."""
    says: str
    """The text; the field `text` beside those of `structured`."""
    structured: dict[str, JsonValue] = {}


class DeskTool(Record):
    """A tool, all of whose arguments are texts."""

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    about: str
    arguments: dict[str, str] = {}
    """By name, what it is for; all of them are needed."""
    replies: tuple[Reply, ...] = Field(min_length=1)
    """The last one should fit every call."""


class Desk(Record):
    """The tools of one server."""

    tools: tuple[DeskTool, ...] = Field(min_length=1)

    def tool(self, name: str) -> DeskTool:
        """Return the tool of that name, which there is."""
        return next(tool for tool in self.tools if tool.name == name)
