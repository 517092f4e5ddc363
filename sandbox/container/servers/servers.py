"""The servers of one session: each is started when it is first needed, and stays until the end."""

from collections.abc import Callable
from typing import TypeVar

from pydantic import JsonValue

from sandbox.container.engines.base import Conversation, Session
from sandbox.container.servers.mcp_client import Client, Tool, ToolAnswer, UnavailableError
from sandbox.model.server import Server
from sandbox.model.session import Command, User

PLACE = "/opt/servers"
"""Where their folders lie."""
SERVER_USER = User(10004, 10004)
"""Neither the agent nor a test can look into a server or its files."""

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONDONTWRITEBYTECODE": "1",
}
OUTPUT_LIMIT = 256 << 20
"""Bytes of all that a server may say in a run."""
STDERR_LIMIT = 64 << 10

Result = TypeVar("Result")


class Servers:
    """Talks to them on behalf of a run; not to one of them for several threads at once."""

    def __init__(self) -> None:
        self._clients: dict[str, tuple[Conversation, Client]] = {}
        self._gone: set[str] = set()

    def tools(self, session: Session, server: Server, seconds: float) -> tuple[Tool, ...]:
        """Ask a server for its tools; UnavailableError where it cannot be used."""
        return self._with(session, server, seconds, lambda client: client.tools())

    def call(
        self,
        session: Session,
        server: Server,
        tool: str,
        arguments: dict[str, JsonValue],
        seconds: float,
    ) -> ToolAnswer:
        """Call a tool; RefusedError where the server says no, UnavailableError as above."""
        return self._with(session, server, seconds, lambda client: client.call(tool, arguments))

    def close(self) -> None:
        """End them."""
        for conversation, _ in self._clients.values():
            conversation.kill()
        self._clients.clear()

    def _with(
        self, session: Session, server: Server, seconds: float, use: Callable[[Client], Result]
    ) -> Result:
        """Use a server; one that has failed is started anew the next time, unless it remembers."""
        if server.name in self._gone:
            raise UnavailableError("it has failed before, and is not started again")
        if server.name not in self._clients:
            self._clients[server.name] = _start(session, server, seconds)
        conversation, client = self._clients[server.name]
        try:
            return use(client)
        except UnavailableError:
            del self._clients[server.name]
            if server.remembers:
                self._gone.add(server.name)
            conversation.kill()
            raise


def _start(session: Session, server: Server, seconds: float) -> tuple[Conversation, Client]:
    command = Command(
        argv=server.command,
        cwd=f"{PLACE}/{server.name}",
        environment=ENVIRONMENT,
        user=SERVER_USER,
        stdout_limit=OUTPUT_LIMIT,
        stderr_limit=STDERR_LIMIT,
    )
    try:
        conversation = session.converse(command)
    except OSError as error:
        raise UnavailableError(f"it cannot be started: {error.strerror}") from None
    try:
        return conversation, Client(conversation, seconds)
    except UnavailableError:
        conversation.kill()
        raise
