"""What is known of a client that others made: `presets/*.yaml`.

Texts are templates (`string.Template`): `${prompt}`, `${url}` and `${token}` of the MCP server,
`${socket}`, `${model}`, `${base_url}` and `${key}` of the model, `${home}` (private, made for the
run), `${work}` (an empty folder in which the client starts), `${worktree}` (the repository's folder
in the container), `${bin}` (where its program lies), `${python}` (that of the harness),
`${clients}` (this package's folder), `${tools}` (the names of the harness's tools, a JSON list) and
`${platform}` (as in `linux-x64`).
"""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from sandbox.agents.playback.script import Call
from sandbox.model.base import Record


class Package(Record):
    """What is installed."""

    registry: Literal["npm", "pypi", "none"]
    """`none` for a client that is installed by other means."""
    name: str
    version: str
    """The one that the preset was written for."""
    program: str
    """Where the program lies in the folder of the installation; with the registry `none` its name
    on the PATH, or its path."""
    beside: tuple[str, ...] = ()
    """Packages that it needs and does not ask for."""
    shared_with: str | None = None
    """The preset in whose place it is installed, where two drive one client."""
    node: str | None = None
    """The version of Node that it is run with, for npm."""


class VersionReading(Record):
    """How a client says its version."""

    command: tuple[str, ...]
    pattern: str = r"(\d+\.\d+\.\d+\S*)"
    """A regular expression over what it prints, whose first group is the version."""


class Endpoint(Record):
    """Where the client looks for its model."""

    interface: Literal["chat", "responses", "messages", "gemini"]
    path: str = ""
    """What comes after a server's address, where it has all interfaces: `/v1`."""
    url: str
    """The base URL where nothing else is said."""
    url_variable: str
    """The variable of the caller's environment that names another one."""
    key_variable: str
    """The variable of the caller's environment that holds the key."""
    model: str
    """The model where nothing else is said."""
    scripted_model: str = "scripted"
    """The name for the scripted server, where the client takes only names that it knows."""


class ExtraTool(Record):
    """A tool that is none of the harness's and that the client offers all the same."""

    name: str
    reason: str
    """Why it does no harm."""


class Derived(Record):
    """A file that the client's own program makes, and that is then changed."""

    path: str
    """Template."""
    command: tuple[str, ...]
    """What follows the program; it prints JSON."""
    list_name: str
    """The field of the document that holds a list of objects."""
    changes: dict[str, JsonValue]
    """What each of them is to hold."""


class Through(Record):
    """The client's own shell tool, by which it reaches actions of the harness."""

    tool: str
    argument: str
    """The argument that holds a shell line, by default `sandbox ACTION JSON`."""
    commands_only: bool = False
    """Whether the line is that of `run_command`, and other actions are tools of their own."""


class UsageReading(Record):
    """How tokens and cost are found in JSON that the client leaves.

    A path is made of names with dots between; `*` stands for each of them. What several places
    hold is added up.
    """

    file: str = ""
    """Template of the file's path, a glob; what the client prints where it is empty."""
    lines: bool = True
    """Whether each line is a document, of which those that are no JSON object are passed over."""
    where: dict[str, str] = Field(default_factory=dict)
    """By path: what a document must hold to count."""
    last: bool = False
    """Whether only the last document counts, because it is a total already."""
    input: tuple[str, ...]
    output: tuple[str, ...]
    cached: tuple[str, ...] = ()
    cost: tuple[str, ...] = ()


class Preset(Record):
    """A client."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
    title: str
    package: Package
    version: VersionReading
    endpoint: Endpoint
    arguments: tuple[str, ...]
    """What follows the program."""
    prompt: str = ""
    """Template of what the prompt ends with, for this client only; `${actions}` names all,
    and `${worktree}` is there, too."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Beside HOME, PATH, the locale, and what says how the network is reached."""
    files: dict[str, str] = Field(default_factory=dict)
    """Files that are written before the start, by the template of their path."""
    derived: tuple[Derived, ...] = ()
    """Files that are made after those."""
    tools: str
    """Template of the name under which a tool of the harness is offered, for `${action}`; a dot
    stands between a namespace and a name."""
    given: tuple[str, ...] = ()
    """The actions that are offered as tools; all where it is empty."""
    through: Through | None = None
    """None where each action is a tool."""
    extra_tools: tuple[ExtraTool, ...] = ()
    built_in: tuple[Call, ...]
    """Calls of tools that the client is known for and that are switched off: each would write
    `${canary}` on the host, by its arguments or its text."""
    usage: UsageReading | None = None
