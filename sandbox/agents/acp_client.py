"""One prompt of an agent that speaks the Agent Client Protocol, of which we are the client.

Source: https://agentclientprotocol.com, by the package `agent-client-protocol`. The agent gets the
harness's MCP server with its session, and neither files nor terminals of this host. The library is
asynchronous: it runs in a thread of its own, and nothing of that leaves this file.
"""

import asyncio
import json
import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import IO, Any, NoReturn, Protocol, cast

import acp
from acp import schema
from acp.client import ClientSideConnection
from pydantic import BaseModel, ValidationError

from sandbox.agents.claims import About
from sandbox.agents.mcp_server import NAME
from sandbox.agents.permissions import ToolCall, wanted_kinds
from sandbox.agents.requests import LINE_LIMIT, decode_object
from sandbox.model.errors import AgentError
from sandbox.model.usage import ModelUsage
from sandbox.model.version import VERSION

META: dict[str, Any] = {"claudeCode": {"options": {"tools": [], "settingSources": []}}}
"""What switches an agent's own tools off, where that goes with a session; the others pass over it.

Source: claude-agent-acp, whose `session/new` takes options of the Claude Agent SDK.
"""

AUTH_REQUIRED = -32000
"""The error of an agent that wants to be logged in before it opens a session."""

GARBAGE_LIMIT = 100
"""Lines that are no messages, after which an agent is not listened to any more."""

CALLS_KEPT = 256
"""Calls of tools that are remembered for a question about them."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What the agent is given."""

    prompt: str
    folder: Path
    """Its working folder on this host: empty, and gone after the run."""
    url: str
    token: str
    bridge: tuple[str, ...]
    """A command that serves MCP at its standard streams, for those that do not speak HTTP."""


class Heard(Protocol):
    """Who is told what comes of the prompt; each from the conversation's thread."""

    def say(self, about: About, text: str) -> None:
        """Hear a claim."""

    def permitted(self, call: ToolCall) -> bool:
        """Decide on a question for permission."""

    def ended(self, why: str) -> None:
        """Hear that nothing more will be done, and why."""

    def gone(self) -> None:
        """Hear that the program's output has ended."""

    def failed(self, error: AgentError) -> None:
        """Hear that it could not even begin."""


class Conversation:
    """Prompts once, at a program's pipes."""

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes], offer: Offer, heard: Heard) -> None:
        self.usage: ModelUsage | None = None
        """What the agent says that it has used."""
        self._stdin, self._stdout = stdin, stdout
        self._offer = offer
        self._heard = heard
        self._spoilt: Callable[[], bool] = lambda: False
        self._loop = asyncio.new_event_loop()
        self._cancelled = asyncio.Event()
        # The library tells the root logger of every mistake that an agent makes.
        logging.getLogger().addHandler(logging.NullHandler())
        self._thread = threading.Thread(target=self._work, name="acp", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Ask the agent to stop; it may take its time."""
        try:
            self._loop.call_soon_threadsafe(self._cancelled.set)
        except RuntimeError:
            return  # it has ended

    def join(self, seconds: float) -> None:
        """Wait for its end."""
        self._thread.join(seconds)

    def _work(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            try:
                runner.run(self._converse())
            except _CannotBeginError as error:
                self._heard.failed(AgentError(str(error), "See agent.log in the run's folder."))
            except OSError:
                if self._spoilt():
                    self._heard.ended(f"{GARBAGE_LIMIT} lines of the agent were no messages.")
                else:
                    self._heard.gone()
            except Exception as error:  # noqa: BLE001 - whatever it sends, the run ends
                self._heard.ended(f"The conversation broke off: {_short(error)}.")

    async def _converse(self) -> None:
        reader = asyncio.StreamReader(limit=LINE_LIMIT)
        pipe, _ = await self._loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), self._stdout
        )
        client = _Client(self._heard)
        pipes = _Pipes(reader, self._stdin)
        self._spoilt = pipes.spoilt
        connection = ClientSideConnection(cast(acp.Client, client), pipes)
        try:
            session = await self._open(connection)
            cancelling = asyncio.create_task(self._pass_on_cancel(connection, session))
            try:
                answer = await connection.prompt(
                    session_id=session, prompt=[acp.text_block(self._offer.prompt)]
                )
            finally:
                cancelling.cancel()
                self.usage = client.usage
            self.usage = _used(answer.usage, client.usage)
            self._heard.ended(f"The agent ended its turn: {answer.stop_reason}.")
        finally:
            await connection.close()
            pipe.close()

    async def _open(self, connection: ClientSideConnection) -> str:
        """Make a session that has the harness's tools; its id."""
        try:
            about = await connection.initialize(
                protocol_version=acp.PROTOCOL_VERSION,
                client_capabilities=schema.ClientCapabilities(),
                client_info=schema.Implementation(name=NAME, version=VERSION),
            )
            made = await self._session(connection, about)
        except (acp.RequestError, ValidationError) as error:
            raise _CannotBeginError(f"The agent opened no session: {_short(error)}.") from error
        return made.session_id

    async def _session(
        self, connection: ClientSideConnection, about: schema.InitializeResponse
    ) -> schema.NewSessionResponse:
        """Ask for a session; where the agent wants to be logged in first, by what it offers."""

        async def asked() -> schema.NewSessionResponse:
            return await connection.new_session(
                cwd=str(self._offer.folder), mcp_servers=[self._server(about)], **META
            )

        try:
            return await asked()
        except acp.RequestError as error:
            if error.code != AUTH_REQUIRED:
                raise
        methods = [method for method in about.auth_methods or () if _possible(method)]
        refused = []
        for method in methods:
            try:
                await connection.authenticate(method_id=method.id)
                return await asked()
            except acp.RequestError as error:
                refused.append(f"{method.name}: {_short(error)}")
        raise _CannotBeginError(
            "The agent opened no session: Authentication required, and "
            + ("; ".join(refused) or "no way that it offers goes without a terminal or a variable")
            + "."
        )

    def _server(
        self, about: schema.InitializeResponse
    ) -> schema.HttpMcpServer | schema.McpServerStdio:
        abilities = about.agent_capabilities
        if abilities and abilities.mcp_capabilities and abilities.mcp_capabilities.http:
            token = schema.HttpHeader(name="Authorization", value=f"Bearer {self._offer.token}")
            return schema.HttpMcpServer(
                type="http", name=NAME, url=self._offer.url, headers=[token]
            )
        command, *arguments = self._offer.bridge
        return schema.McpServerStdio(name=NAME, command=command, args=arguments, env=[])

    async def _pass_on_cancel(self, connection: ClientSideConnection, session: str) -> None:
        await self._cancelled.wait()
        await connection.cancel(session_id=session)


class _CannotBeginError(Exception):
    """There is no session, by no fault of what the agent would have done in it."""


def _possible(method: BaseModel) -> bool:
    """Whether a way to log in needs no terminal, and all variables that it names are set."""
    match method:
        case schema.AuthMethodTerminal():
            return False
        case schema.AuthMethodEnvVar(vars=wanted):
            return all(each.optional or each.name in os.environ for each in wanted)
    return True


class _Client:
    """What the agent may ask of us, and tell us. Files and terminals are not there."""

    def __init__(self, heard: Heard) -> None:
        self.usage: ModelUsage | None = None
        self._heard = heard
        self._calls: OrderedDict[str, ToolCall] = OrderedDict()

    async def request_permission(
        self,
        session_id: str,  # noqa: ARG002 - there is one
        tool_call: schema.ToolCallUpdate,
        options: Sequence[schema.PermissionOption],
        **_meta: Any,  # noqa: ANN401 - theirs
    ) -> schema.RequestPermissionResponse:
        """Choose by the options' kinds; their ids and names mean nothing."""
        call = self._known(tool_call)
        for kind in wanted_kinds(self._heard.permitted(call)):
            for option in options:
                if option.kind == kind:
                    chosen = schema.AllowedOutcome(outcome="selected", option_id=option.option_id)
                    return schema.RequestPermissionResponse(outcome=chosen)
        return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))

    async def session_update(
        self,
        session_id: str,  # noqa: ARG002 - there is one
        update: BaseModel,
        **_meta: Any,  # noqa: ANN401 - theirs
    ) -> None:
        """Hear what the agent says, plans and uses."""
        match update:
            case schema.AgentMessageChunk(content=schema.TextContentBlock(text=text)):
                self._heard.say("message", text)
            case schema.AgentThoughtChunk(content=schema.TextContentBlock(text=text)):
                self._heard.say("thought", text)
            case schema.AgentPlanUpdate(entries=entries):
                plan = [f"[{entry.status}] {entry.content}" for entry in entries]
                self._heard.say("plan", "\n".join(plan))
            case schema.UsageUpdate(cost=cost) if cost is not None:
                self.usage = ModelUsage(cost=max(0.0, cost.amount))
                self._heard.say("usage", f"{cost.amount} {cost.currency}")
            case schema.ToolCallStart() | schema.ToolCallProgress():
                self._known(update)

    async def create_terminal(self, **_asked: Any) -> NoReturn:  # noqa: ANN401 - theirs
        """Refuse: without this the library would answer with nothing."""
        raise acp.RequestError.method_not_found("terminal/create")

    def _known(
        self, update: schema.ToolCallUpdate | schema.ToolCallStart | schema.ToolCallProgress
    ) -> ToolCall:
        """Merge what is said of a call with what was said of it before: each may say a part."""
        before = self._calls.pop(update.tool_call_id, ToolCall("", "", None, {}))
        call = ToolCall(
            id=update.tool_call_id,
            title=update.title or before.title,
            arguments=before.arguments if update.raw_input is None else update.raw_input,
            meta=update.field_meta or before.meta,
        )
        self._calls[update.tool_call_id] = call
        if len(self._calls) > CALLS_KEPT:
            self._calls.popitem(last=False)
        return call


class _Pipes:
    """The transport of the connection: a message per line; lines that are none are passed over."""

    def __init__(self, reader: asyncio.StreamReader, stdin: IO[bytes]) -> None:
        self._reader = reader
        self._stdin = stdin
        self._sending = asyncio.Lock()
        self._garbage = 0

    def spoilt(self) -> bool:
        """Whether there was too much that is no message."""
        return self._garbage >= GARBAGE_LIMIT

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message; an agent that does not read holds up only what is sent to it."""
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        async with self._sending:
            await asyncio.to_thread(_write_all, self._stdin, line)

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None at the end, or after too much that is none."""
        while not self.spoilt():
            try:
                line = await self._reader.readline()
                if not line:
                    return None
                if line.strip():
                    return _message(line)
            except ValueError:  # no message, or longer than any
                self._garbage += 1
        return None

    async def close(self) -> None:
        """Leave the pipes to the program's owner."""


_SHAPES = {
    "method": (str, NoneType),
    "id": (str, int, NoneType),
    "error": (dict, NoneType),
}


def _message(line: bytes) -> dict[str, Any]:
    """Read a message as far as the library does without looking; ValueError where it is none."""
    message: dict[str, Any] = decode_object(line)
    for name, kinds in _SHAPES.items():
        if not isinstance(message.get(name), kinds):
            raise ValueError(f"The message's {name} is malformed.")  # noqa: TRY004 - of a text
    return message


def _write_all(stdin: IO[bytes], data: bytes) -> None:
    while data:
        data = data[stdin.write(data) :]


def _used(told: schema.Usage | None, before: ModelUsage | None) -> ModelUsage | None:
    if told is None:
        return before
    return ModelUsage(
        input_tokens=told.input_tokens,
        output_tokens=told.output_tokens,
        cached_tokens=told.cached_read_tokens or 0,
        cost=before.cost if before else None,
    )


def _short(error: Exception) -> str:
    if isinstance(error, acp.RequestError):
        return f"{error} {json.dumps(error.data, default=str) if error.data else ''}".strip()[:500]
    return " ".join(str(error).split())[:500]
