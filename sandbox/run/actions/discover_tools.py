"""`discover_tools`: the world's tool servers, and what each offers."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from sandbox.container.servers import UnavailableError
from sandbox.container.servers.mcp_client import RefusedError
from sandbox.model.action import DiscoverTools
from sandbox.model.observation import ErrorCode, FoundServer, FoundServers, FoundTool
from sandbox.model.server import Server
from sandbox.rules.policy.subject import Subject
from sandbox.run.actions.outcome import Performed, Refusal, done
from sandbox.run.actions.prepared import Prepared
from sandbox.run.actions.workspace import Workspace

START_SECONDS = 20.0
"""How long a server may take to start and for each answer."""


def prepare(action: DiscoverTools, _: Workspace) -> Prepared:
    """Nothing is to be looked up."""
    return Prepared(Subject(action.name), partial(_discover, action))


def _discover(action: DiscoverTools, workspace: Workspace) -> Performed:
    """Ask each server, or the one that is named; one that cannot be used is told as such."""
    servers = workspace.task.world.every_server
    if action.server is not None:
        servers = (named(action.server, workspace),)
    with ThreadPoolExecutor(len(servers) or 1) as starters:  # each may take a second to be there
        found = tuple(starters.map(partial(_found, workspace=workspace), servers))
    return done(FoundServers(servers=found))


def named(name: str, workspace: Workspace) -> Server:
    """Return the server of this name; Refusal where the world has none."""
    servers = workspace.task.world.every_server
    for server in servers:
        if server.name == name:
            return server
    known = ", ".join(server.name for server in servers) or "none"
    raise Refusal(ErrorCode.NOT_FOUND, f"There is no server {name[:100]!r}; there are: {known}.")


def _found(server: Server, workspace: Workspace) -> FoundServer:
    try:
        tools = workspace.servers.tools(workspace.session, server, START_SECONDS)
    except (UnavailableError, RefusedError) as error:
        return FoundServer(
            name=server.name, about=server.about, available=False, problem=str(error)
        )
    return FoundServer(
        name=server.name,
        about=server.about,
        available=True,
        tools=tuple(
            FoundTool(name=tool.name, description=tool.description, arguments=tool.schema_)
            for tool in tools
        ),
    )
