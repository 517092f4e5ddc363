"""The harness's actions as tools of an MCP server: over HTTP on loopback, and over a unix socket.

Source: the Model Context Protocol, by the package `mcp`. A call becomes a request in `Calls`; the
result is the observation, structured and once more as JSON text. The library is asynchronous: it
runs in a thread of its own, and nothing of that leaves this file.

Over HTTP every request needs the token as `Authorization: Bearer`. The socket, which only its owner
can use, carries the protocol's stdio transport, a JSON message per line: `sandbox mcp` joins it to
the standard streams of whoever wants to be a client.
"""

import asyncio
import hmac
import logging
import secrets
import socket
import threading
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import anyio
import mcp_types as types
import uvicorn
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from sandbox.agents.call_queue import Calls
from sandbox.agents.call_server import address
from sandbox.agents.mcp_task import Task
from sandbox.agents.requests import LINE_LIMIT
from sandbox.agents.tools import Tool, tools
from sandbox.model.action import ACTIONS
from sandbox.model.briefing import Briefing, Reply
from sandbox.model.errors import AgentError
from sandbox.model.version import VERSION

NAME = "sandbox"
"""What clients should call the server; many put it before the names of its tools."""

INSTRUCTIONS = """\
All work happens in a container, which only the tools of this server reach; paths are relative to \
the repository there. Nothing on your own machine matters or counts. When you are done, call \
final_answer with the fields that the task asks for: that ends the run.\
"""

PROGRESS_SECONDS = 5.0
"""Between two notes that a call still goes on, where the client asked for such."""


_SESSIONS = 256
"""HTTP sessions at once: clients that connect anew leave theirs behind."""

_KEPT_SECONDS = 86_400
"""How long a connection may be silent: one that is closed meanwhile loses the next call."""

_STOP_SECONDS = 1
"""How long those who are still there are waited for at the end."""


class McpServer:
    """Serves one run's calls until it is closed."""

    def __init__(
        self, calls: Calls, briefing: Briefing, path: Path | None = None, *, tells: bool = False
    ) -> None:
        """Start; `path` is where the socket is to lie. AgentError where that is impossible.

        `tells` is for clients that nobody else gives the prompt: they get it as instructions, as a
        prompt and as a resource.
        """
        self.token = secrets.token_urlsafe(32)
        self.socket = path
        self._calls = calls
        self._task = Task(briefing) if tells else None
        self._tools = [_tool(tool) for tool in tools(briefing)]
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        try:
            # Named by its protocol, or asyncio leaves Nagle's algorithm on: 40 ms for each call.
            self._web = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            try:
                self._web.bind(("127.0.0.1", 0))
                self._web.listen()
                self._local = _listen(path) if path else None
            except OSError:
                self._web.close()
                raise
        except OSError as error:
            message = f"The MCP server could not listen: {error.strerror}."
            raise AgentError(message, "Check that the run's folder can be written.") from error
        self.url = f"http://127.0.0.1:{self._web.getsockname()[1]}/mcp"
        for library in ("mcp", "uvicorn"):
            logging.getLogger(library).addHandler(logging.NullHandler())
        self._thread = threading.Thread(target=self._work, name="mcp server", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving; calls that still wait are cancelled."""
        with suppress(RuntimeError):  # it has stopped already
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self.socket:
            self.socket.unlink(missing_ok=True)

    def _work(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        application = self._server().streamable_http_app(
            max_request_body_size=LINE_LIMIT,
            # A model may think for longer than any limit; the run has its own.
            session_idle_timeout=None,
            max_sessions=_SESSIONS,
        )
        app = _Guarded(application, self)
        web = uvicorn.Server(
            uvicorn.Config(
                app,
                http="h11",
                ws="none",
                log_config=None,
                access_log=False,
                timeout_keep_alive=_KEPT_SECONDS,
                timeout_graceful_shutdown=_STOP_SECONDS,
            )
        )
        serving = asyncio.create_task(web.serve([self._web]))
        connections: set[asyncio.Task[None]] = set()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._converse(reader, writer))
            connections.add(task)
            task.add_done_callback(connections.discard)

        if self._local:
            local = await asyncio.start_unix_server(accept, sock=self._local, limit=LINE_LIMIT)
        await self._stop.wait()
        web.should_exit = True
        if self._local:
            local.close()
        if connections:  # they may not have read their last reply
            await asyncio.wait(connections, timeout=_STOP_SECONDS)
        for task in connections:
            task.cancel()
        await asyncio.gather(serving, *connections, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client of the socket until it goes."""
        server = self._server()
        # It asks of the two no more than `_Lines` has.
        lines = cast(anyio.AsyncFile[str], _Lines(reader, writer))
        with suppress(ConnectionError):
            try:
                async with stdio_server(lines, lines) as (read, write):
                    await server.run(read, write, server.create_initialization_options())
            finally:
                writer.close()

    def _server(self) -> Server[dict[str, Any]]:
        task = self._task
        return Server(
            NAME,
            version=VERSION,
            instructions=f"{task.text}\n\n{INSTRUCTIONS}" if task else INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_list_prompts=task.list_prompts if task else None,
            on_get_prompt=task.get_prompt if task else None,
            on_list_resources=task.list_resources if task else None,
            on_read_resource=task.read_resource if task else None,
        )

    async def _list(
        self, _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._tools)

    async def _call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Put a call and wait for its reply; cancelled by the client, or by its going."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[Reply] = loop.create_future()

        def settle(reply: Reply) -> None:
            if not waiting.done():
                waiting.set_result(reply)

        def answer(reply: Reply) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(settle, reply)

        begun = time.monotonic()
        call = self._calls.put(params.name, params.arguments or {}, answer)
        try:
            while not (await asyncio.wait([waiting], timeout=PROGRESS_SECONDS))[0]:
                seconds = round(time.monotonic() - begun, 1)
                message = f"{params.name[:100]} has been going on for {seconds:.0f} seconds"
                await context.session.report_progress(seconds, message=message)
        except asyncio.CancelledError:
            self._calls.cancel(call)
            raise
        return _result(waiting.result())


class _Guarded:
    """Lets only those in who have the token."""

    def __init__(self, app: Any, server: McpServer) -> None:  # noqa: ANN401 - any ASGI application
        self._app = app
        self._expected = f"Bearer {server.token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._expected):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b""})
                return
        await self._app(scope, receive, send)


class _Lines:
    """A connection as the two text files that the stdio transport wants."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._line():
            yield line

    async def _line(self) -> str:
        """Return the next line; the end, where it is too long or the client has gone."""
        try:
            return (await self._reader.readline()).decode("utf-8", "replace")
        except (ValueError, ConnectionError):
            return ""

    async def write(self, text: str) -> None:
        self._writer.write(text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        with suppress(ConnectionError):  # the reader notices
            await self._writer.drain()


def _listen(path: Path) -> socket.socket:
    """Make a socket that its owner alone can use; once it is there, it can be connected to."""
    hidden = path.with_name(f".{path.name}")
    listener = socket.socket(socket.AF_UNIX)
    try:
        with address(hidden) as place:
            listener.bind(place)
        hidden.chmod(0o600)  # nobody can connect before it listens
        listener.listen()
        hidden.rename(path)
    except OSError:
        listener.close()
        raise
    return listener


def _tool(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.parameters),
        output_schema=_output_schema(),
        annotations=types.ToolAnnotations(
            read_only_hint=ACTIONS[tool.name].reads_only, open_world_hint=False
        ),
    )


def _output_schema() -> dict[str, Any]:
    """Describe what `_result` gives, which clients compare with this."""
    schema = Reply.model_json_schema()
    del schema["properties"]["id"]
    schema["required"].remove("id")
    return schema


def _result(reply: Reply) -> types.CallToolResult:
    content = reply.model_dump(mode="json", exclude={"id"})
    return types.CallToolResult(
        content=[types.TextContent(text=reply.model_dump_json(exclude={"id"}))],
        structured_content=content,
        is_error=reply.status == "error",
    )
