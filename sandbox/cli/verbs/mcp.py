"""`sandbox mcp`: a run's MCP server at the standard streams, for clients that start their own."""

import os
import socket
import sys
import threading
from typing import Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.options import RunsOption, open_store
from sandbox.model.errors import UsageError

_CHUNK = 1 << 16


def mcp(
    run: Annotated[
        str,
        typer.Argument(
            help="A run that goes on: `last` or how its id begins.", autocompletion=completion.runs
        ),
    ],
    runs: RunsOption = None,
) -> None:
    """Serve the actions of a run that goes on as MCP tools over standard input and output.

    For clients that start their MCP servers themselves. Start the run with `--agent mcp`, which
    waits for a client, or with `--protocol mcp`.
    """
    from sandbox.agents.call_server import address

    folder = open_store(runs).find(run)
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            with address(folder.mcp_socket) as place:
                connection.connect(place)
        except OSError as error:
            raise UsageError(
                f"{folder.id} serves no MCP: it is over, or was started without.",
                "Start one that does: sandbox run TASK --agent mcp.",
            ) from error
        threading.Thread(target=_send, args=(connection,), daemon=True).start()
        while chunk := connection.recv(_CHUNK):
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()


def _send(connection: socket.socket) -> None:
    """Pass on what comes in, also its end."""
    while chunk := os.read(sys.stdin.fileno(), _CHUNK):
        connection.sendall(chunk)
    connection.shutdown(socket.SHUT_WR)
