"""An agent that is a program of the host and speaks the Agent Client Protocol."""

import os
import shlex
import subprocess
from collections.abc import Callable

from sandbox.agents.acp_client import Conversation, Offer
from sandbox.agents.base import Departure, Garbage
from sandbox.agents.call_queue import Calls
from sandbox.agents.claims import About, Claims
from sandbox.agents.log import LogDrain
from sandbox.agents.mcp_agent import ANSWERED_SECONDS, GRACE_SECONDS, Place
from sandbox.agents.mcp_server import INSTRUCTIONS, McpServer
from sandbox.agents.permissions import ToolCall, described, of_harness
from sandbox.agents.program import Program, how_it_ended
from sandbox.model.action import Request
from sandbox.model.briefing import Briefing, Ended, Reply
from sandbox.model.errors import AgentError
from sandbox.model.event import Claimed
from sandbox.model.scratch import Scratch
from sandbox.model.usage import ModelUsage

_EXIT_SECONDS = 0.5
"""How long after the end of its output a program may take to exit, to learn its status."""


class AcpAgent:
    """Starts a command line, prompts it, and lets it act by the harness's MCP server."""

    def __init__(self, command: str, place: Place, bridge: tuple[str, ...]) -> None:
        """Take a command line, split as a shell would; AgentError where it cannot be split."""
        self.name = command
        self._place = place
        self._bridge = bridge
        self._calls = Calls()
        self._claims = Claims()
        self._departure = Departure("")
        self._actions: frozenset[str] = frozenset()
        self._server: McpServer | None = None
        self._scratch: Scratch | None = None
        self._program: Program | None = None
        self._drain: LogDrain | None = None
        self._conversation: Conversation | None = None
        try:
            self._arguments = shlex.split(command)
        except ValueError as error:
            raise AgentError(f"The agent's command cannot be split: {error}: {command}") from error
        if not self._arguments:
            raise AgentError("The agent's command is empty.", "Name a program: --agent 'CMD ARG'.")

    def cancel_with(self, cancel: Callable[[str], None]) -> None:
        """Learn what ends a request that the client takes back."""
        self._calls.cancel_with(cancel)

    def claim_with(self, claim: Callable[[Claimed], None]) -> None:
        """Learn who records what the agent says."""
        self._claims.claim_with(claim)

    def begin(self, briefing: Briefing) -> None:
        """Serve, start the program and prompt it."""
        self._actions = frozenset(action.name for action in briefing.actions)
        self._server = McpServer(self._calls, briefing, self._place.socket.absolute())
        self._scratch = Scratch("client")
        folder = self._scratch.path
        about = {"SANDBOX_RUN": briefing.run, "SANDBOX_TASK": briefing.task}
        self._program = Program(
            self._arguments,
            environment={**os.environ, **about},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        stdin, stdout, stderr = self._program.stdin, self._program.stdout, self._program.stderr
        if stdin is None or stdout is None or stderr is None:
            raise RuntimeError("the program was started with pipes")
        self._drain = LogDrain(stderr, self._place.log)
        offer = Offer(
            prompt=f"{briefing.prompt.rstrip()}\n\n{INSTRUCTIONS}\n",
            folder=folder,
            url=self._server.url,
            token=self._server.token,
            bridge=self._bridge,
        )
        self._conversation = Conversation(stdin, stdout, offer, self)

    def next(self, reply: Reply | None, timeout: float) -> Request | Garbage | None:
        """Hand over the reply and wait for the next call; what was said before it comes first."""
        asked = self._calls.take(reply, timeout)
        self._claims.flush()
        return asked

    def ending(self) -> Departure:
        """Say why it called nothing more."""
        return self._departure

    def close(self, reply: Reply | None, ended: Ended) -> None:
        """Reply, let the agent say its last words or cancel it, then kill all it has started."""
        self._calls.close(reply, ended)
        try:
            if self._conversation is not None:
                answered = ended.ended == "final_answer"
                if not answered:
                    self._conversation.cancel()
                self._conversation.join(ANSWERED_SECONDS if answered else GRACE_SECONDS)
        finally:
            self._claims.flush()
            if self._program is not None:
                self._end(self._program)
            if self._server is not None:
                self._server.close()
            if self._scratch is not None:
                self._scratch.close()

    def used(self) -> ModelUsage | None:
        """What the agent says that its model has used."""
        return self._conversation.usage if self._conversation else None

    def say(self, about: About, text: str) -> None:
        """Keep what the agent says as a claim; only words come in pieces."""
        self._claims.say(about, text)
        if about not in ("message", "thought"):
            self._claims.flush()

    def permitted(self, call: ToolCall) -> bool:
        """Permit the harness's tools, which decide when they are called, and nothing else."""
        permitted = of_harness(call, self._actions)
        word = "left to the tool" if permitted else "rejected"
        self.say("permission", f"{word}: {described(call)}")
        return permitted

    def ended(self, why: str, status: int | None = None) -> None:
        """Let the run end."""
        self._departure = Departure(why, status)
        self._claims.flush()
        self._calls.leave()

    def gone(self) -> None:
        """Let the run end; the program's exit status says why."""
        try:
            status = self._program.wait(_EXIT_SECONDS) if self._program else 0
        except subprocess.TimeoutExpired:
            self.ended("The agent closed its output and went on running.")
        else:
            departure = how_it_ended(status)
            self.ended(departure.says, departure.status)

    def failed(self, error: AgentError) -> None:
        """Let the run fail: nothing was asked of the agent yet."""
        self._calls.fail(error)

    def _end(self, program: Program) -> None:
        program.kill_tree()
        if self._conversation is not None:
            self._conversation.join(GRACE_SECONDS)
        for stream in (program.stdin, program.stdout):
            if stream is not None:
                stream.close()
        if self._drain is not None:
            self._drain.close()
