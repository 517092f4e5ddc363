"""An agent that is a client of the harness's MCP server: a program of the host, or who connects.

The server serves the run while it lasts. A program is started with its address and the prompt; when
it exits, the run ends. Without a program the run waits for a client on the socket (`sandbox mcp`).
"""

import json
import os
import shlex
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sandbox.agents.base import Departure, Garbage
from sandbox.agents.call_queue import Calls
from sandbox.agents.log import LogDrain
from sandbox.agents.mcp_server import INSTRUCTIONS, NAME, McpServer
from sandbox.agents.program import Program, how_it_ended
from sandbox.model.action import Request
from sandbox.model.briefing import Briefing, Ended, Reply
from sandbox.model.errors import AgentError
from sandbox.model.scratch import Scratch
from sandbox.model.usage import ModelUsage

ANSWERED_SECONDS = 20.0
"""How long a client may go on after its final answer: it gets its reply, asks its model for closing
words, and says what was used."""

GRACE_SECONDS = 2.0
"""The same after any other end."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a client finds the server."""

    url: str
    token: str
    socket: Path
    config: Path
    """A file with both as most clients want it: `{"mcpServers": {"sandbox": {...}}}`."""
    actions: tuple[str, ...]
    """The names of the tools."""
    worktree: str = ""
    """Where the repository lies in the container."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a run has for its client."""

    socket: Path
    output: Path
    """Takes what it prints; a claim, like the log."""
    log: Path


@dataclass(frozen=True, slots=True)
class Launch:
    """How a client is started."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: Path | None = None
    """The current folder where it is left out."""
    told: bool = False
    """Whether the prompt comes at standard input; nothing does otherwise, for many clients would
    add it to the prompt that they have."""


class Client(Protocol):
    """A program that can be a client."""

    @property
    def name(self) -> str:
        """How the trace calls it."""

    def launch(self, address: Address, prompt: str, folder: Path) -> Launch:
        """Say how it is started; `folder` is empty, private, and gone after the run."""

    def used(self, output: Path, folder: Path) -> ModelUsage | None:
        """Read what its model has used, from what it printed or left in its folder."""


class CommandClient:
    """Any command line; it finds the server by its environment, the prompt at standard input."""

    def __init__(self, command: str) -> None:
        """Take a command line, split as a shell would; AgentError where it cannot be split."""
        self.name = command
        try:
            self._arguments = tuple(shlex.split(command))
        except ValueError as error:
            raise AgentError(f"The agent's command cannot be split: {error}: {command}") from error
        if not self._arguments:
            raise AgentError("The agent's command is empty.", "Name a program: --agent 'CMD ARG'.")

    def launch(self, address: Address, prompt: str, folder: Path) -> Launch:  # noqa: ARG002
        """Start it in the current folder."""
        environment = {
            "SANDBOX_MCP_URL": address.url,
            "SANDBOX_MCP_TOKEN": address.token,
            "SANDBOX_MCP_SOCKET": str(address.socket),
            "SANDBOX_MCP_CONFIG": str(address.config),
        }
        return Launch(self._arguments, {**os.environ, **environment}, told=True)

    def used(self, output: Path, folder: Path) -> None:
        """Nothing is known of what it prints."""


class McpAgent:
    """Lets a client act."""

    def __init__(
        self, client: Client | None, place: Place, waits: Callable[[], None] = lambda: None
    ) -> None:
        """`waits` is called when the server is there and a client has to come by itself."""
        self._waits = waits
        self.name = client.name if client else "mcp"
        self._client = client
        self._place = place
        self._calls = Calls()
        self._server: McpServer | None = None
        self._served = threading.Event()
        self._program: Program | None = None
        self._drains: tuple[LogDrain, ...] = ()
        self._scratch: Scratch | None = None
        self._usage: ModelUsage | None = None

    def cancel_with(self, cancel: Callable[[str], None]) -> None:
        """Learn what ends a request that a client takes back."""
        self._calls.cancel_with(cancel)

    def address(self) -> tuple[str, str]:
        """Wait until the server is there; its URL and token, for a client in this process."""
        self._served.wait()
        if self._server is None:
            raise RuntimeError("the server did not start")
        return self._server.url, self._server.token

    def begin(self, briefing: Briefing) -> None:
        """Serve, and start the client."""
        place = self._place.socket.absolute()
        self._server = McpServer(self._calls, briefing, place, tells=self._client is None)
        self._served.set()
        if self._client is None:
            self._waits()
            return
        self._scratch = Scratch("client")
        folder = self._scratch.path
        prompt = f"{briefing.prompt.rstrip()}\n\n{INSTRUCTIONS}\n"
        (folder / "prompt").write_text(prompt, encoding="utf-8")
        private = folder / "private"
        private.mkdir()
        launch = self._client.launch(_address(self._server, folder, briefing), prompt, private)
        about = {"SANDBOX_RUN": briefing.run, "SANDBOX_TASK": briefing.task}
        with (folder / "prompt" if launch.told else Path(os.devnull)).open("rb") as stdin:
            self._program = Program(
                launch.arguments,
                environment={**launch.environment, **about},
                cwd=launch.cwd,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        self._follow(self._program)

    def next(self, reply: Reply | None, timeout: float) -> Request | Garbage | None:
        """Hand over the reply and wait for the next call."""
        return self._calls.take(reply, timeout)

    def ending(self) -> Departure:
        """Name the exit status."""
        status = self._program.poll() if self._program else None
        return Departure("Nobody calls any more.") if status is None else how_it_ended(status)

    def close(self, reply: Reply | None, ended: Ended) -> None:
        """Reply, give the client time to end, then kill it with all that it started."""
        self._calls.close(reply, ended)
        try:
            if self._program is not None:
                self._end(self._program, ended)
        finally:
            if self._server is not None:
                self._server.close()
            if self._scratch is not None:
                self._scratch.close()

    def interrupt(self) -> None:
        """Do as Ctrl-C does; from any thread."""
        if self._program is not None:
            self._program.interrupt()

    def kill(self) -> None:
        """Kill the client with all that it started; from any thread."""
        if self._program is not None:
            self._program.kill_tree()

    def used(self) -> ModelUsage | None:
        """What the client has said."""
        return self._usage

    def _follow(self, program: Program) -> None:
        """Keep what it says, and notice its end."""
        if program.stdout is None or program.stderr is None:
            raise RuntimeError("the program was started with pipes")
        self._drains = (
            LogDrain(program.stdout, self._place.output),
            LogDrain(program.stderr, self._place.log),
        )

        def watch() -> None:
            program.wait()
            self._calls.end()

        threading.Thread(target=watch, name="mcp client", daemon=True).start()

    def _end(self, program: Program, ended: Ended) -> None:
        seconds = ANSWERED_SECONDS if ended.ended == "final_answer" else GRACE_SECONDS
        try:
            program.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            program.kill_tree()
        for drain in self._drains:
            drain.close()
        if self._client is not None and self._scratch is not None:
            self._usage = self._client.used(self._place.output, self._scratch.path / "private")


def _address(server: McpServer, folder: Path, briefing: Briefing) -> Address:
    """Write the address down in a file that its owner alone can read."""
    headers = {"Authorization": f"Bearer {server.token}"}
    entry = {"type": "http", "url": server.url, "headers": headers}
    config = folder / "mcp.json"
    config.touch(0o600)
    config.write_text(json.dumps({"mcpServers": {NAME: entry}}), encoding="utf-8")
    if server.socket is None:
        raise RuntimeError("a run's server has a socket")
    actions = tuple(action.name for action in briefing.actions)
    return Address(server.url, server.token, server.socket, config, actions, briefing.worktree)
