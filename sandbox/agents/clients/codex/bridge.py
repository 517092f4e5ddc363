"""A remote environment of Codex that is a run: what it wants to be done there becomes actions.

    python -m sandbox.agents.clients.codex.bridge SOCKET WORK WORKTREE

Codex starts it by its `environments.toml` and speaks at the standard streams. SOCKET is that of the
run's MCP server, WORK the folder of the host that Codex takes for its own, WORKTREE the repository
in the container. So policy, approvals, limits and the trace hold for Codex's own tools, too.
"""

import queue
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from pydantic import JsonValue

from sandbox.agents.clients.codex.actions import Actions
from sandbox.agents.clients.codex.files import Files
from sandbox.agents.clients.codex.paths import Paths
from sandbox.agents.clients.codex.processes import Processes
from sandbox.agents.clients.codex.wire import UNKNOWN_METHOD, Message, Refused, Speaker, parse
from sandbox.agents.requests import LINE_LIMIT
from sandbox.model.errors import CallError

WAITING_LIMIT = 256
"""Requests that may wait for their turn."""

SHELL: dict[str, JsonValue] = {"name": "bash", "path": "/bin/bash"}


class Bridge:
    """Serves one client."""

    def __init__(self, actions: Actions, places: Paths, output: BinaryIO) -> None:
        self._actions = actions
        self._places = places
        self._speaker = Speaker(output, actions.close)
        self._files = Files(actions, places)
        self._processes = Processes(actions, places, self._speaker, self._later)
        self._work: queue.Queue[Callable[[], None]] = queue.Queue(WAITING_LIMIT)
        threading.Thread(target=self._do, name="work", daemon=True).start()

    def serve(self, stream: BinaryIO) -> None:
        """Answer until the client goes, then take back what goes on."""
        try:
            while line := stream.readline(LINE_LIMIT + 2):
                self._hear(line)
                if len(line) > LINE_LIMIT and not line.endswith(b"\n"):
                    return
        finally:
            self._actions.close()

    def _hear(self, line: bytes) -> None:
        if not line.strip():
            return
        message = None
        try:
            message = parse(line.removesuffix(b"\n"))
            self._answer(message)
        except Refused as refused:
            self._speaker.error(message.id if message else None, refused)

    def _answer(self, message: Message) -> None:
        if message.method == "initialized" and message.id is None:
            return
        if message.id is None:
            raise Refused(f"{message.method[:100]} needs an id.")
        if message.method == "initialize":
            about: JsonValue = {"shell": SHELL, "cwd": self._places.uri("."), "platformOs": "linux"}
            self._speaker.result(message, {"sessionId": "run", "environmentInfo": about})
        elif message.method in self._processes.methods:
            self._processes.methods[message.method](message)
        elif message.method in self._files.methods:
            self._later(lambda: self._file(message))
        else:
            problem = f"{message.method[:100]} has no counterpart among the harness's actions."
            raise Refused(problem, UNKNOWN_METHOD)

    def _file(self, message: Message) -> None:
        try:
            self._speaker.result(message, self._files.methods[message.method](message))
        except Refused as refused:
            self._speaker.error(message.id, refused)
        except CallError as error:
            self._speaker.error(message.id, Refused(error.message))

    def _later(self, job: Callable[[], None]) -> None:
        """Put a job in line; Refused where too many wait."""
        try:
            self._work.put_nowait(job)
        except queue.Full:
            raise Refused(f"{WAITING_LIMIT} requests are waiting.") from None

    def _do(self) -> None:
        """Do one job after the other, in the order in which they came."""
        while True:
            self._work.get()()


def main() -> None:
    """Serve the client at the standard streams."""
    path, work, worktree = sys.argv[1:]
    try:
        places = Paths(work, worktree)
        Bridge(Actions(Path(path)), places, sys.stdout.buffer).serve(sys.stdin.buffer)
    except CallError as error:
        sys.exit(f"codex bridge: {error.message}")


if __name__ == "__main__":
    main()
