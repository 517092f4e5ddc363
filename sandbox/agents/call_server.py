"""Callers at a unix socket: one line asks, one line answers, as in `sandbox/model/call.py`.

Whoever may open the socket may act in the run: it is made for its owner alone. A caller that goes
away in the middle of an action changes nothing: the action is done and recorded.
"""

import contextlib
import os
import secrets
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from sandbox.agents.called_agent import CalledAgent
from sandbox.agents.requests import LINE_LIMIT, decode, first_problem
from sandbox.model.action import FinalAnswer
from sandbox.model.briefing import Reply
from sandbox.model.call import (
    ASKED,
    Answered,
    Close,
    Closing,
    KeptOpen,
    NotUnderstood,
    Performed,
    Unread,
)
from sandbox.model.errors import CallError

CLOSED = "The session was closed."

_POLL_SECONDS = 0.1
_LONGEST_ADDRESS = 100
"""Bytes of a path that surely fit `sun_path`, which has 108 on Linux and 104 elsewhere."""


@contextlib.contextmanager
def address(path: Path) -> Iterator[str]:
    """A name for a socket that is short enough, however long its path is (Linux has one)."""
    if len(os.fsencode(path)) <= _LONGEST_ADDRESS:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


class CallServer:
    """Listens until it is closed, one thread for each caller."""

    def __init__(self, path: Path, agent: CalledAgent) -> None:
        """Listen; CallError where no socket can be made there."""
        self._path = path
        # Renamed once it listens: a socket that refuses is one whose owner is gone.
        early = path.with_name(f".{path.name}.{secrets.token_hex(2)}")
        try:
            with address(early) as short:
                self._server = _Server(short, agent)
            early.chmod(0o600)
            early.rename(path)
        except OSError as error:
            early.unlink(missing_ok=True)
            raise CallError(
                f"No socket can be made at {path}: {error.strerror or error}.",
                "Choose a place on a local file system: --runs.",
            ) from error
        threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), name="calls", daemon=True
        ).start()

    def close(self) -> None:
        """Take the socket away and listen no more; callers that are connected are let go."""
        self._path.unlink(missing_ok=True)
        self._server.shutdown()
        self._server.server_close()


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, path: str, agent: CalledAgent) -> None:
        self.agent = agent
        self._refused = ""
        """Why the answer was refused that was the last thing that a caller wanted."""
        super().__init__(path, _Handler)

    def close(self) -> Closing | KeptOpen:
        """End the run, but at the first try not behind an answer that did not come through."""
        refused, self._refused = self._refused, ""
        if refused:
            return KeptOpen(problem=refused)
        self.agent.leave(CLOSED)
        return Closing()

    def answered(self, action: str, reply: Reply) -> Performed:
        """Hand on what became of an action."""
        goes_on = reply.status == "error" and reply.turns_left is not None
        self._refused = reply.message or "" if goes_on and _answers(action) else ""
        return Performed(reply=reply)

    def unread(self, action: str, problem: str) -> NotUnderstood:
        """Hand on that an action could not be read."""
        self._refused = problem if _answers(action) else ""
        return NotUnderstood(problem=problem)


def _answers(action: str) -> bool:
    return action == FinalAnswer.name


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        """Answer line after line until the caller leaves."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while line := self.rfile.readline(LINE_LIMIT + 1):
                whole = line.endswith(b"\n")
                answer = self._answer(line) if whole else _cut(line)
                self.wfile.write(answer.model_dump_json().encode() + b"\n")
                if not whole:
                    return

    def _answer(self, line: bytes) -> Answered:
        try:
            asked = ASKED.validate_python(decode(line))
        except ValidationError as error:
            return NotUnderstood(problem=first_problem(error))
        except ValueError as error:
            return NotUnderstood(problem=str(error))
        server = cast(_Server, self.server)
        if isinstance(asked, Close):
            return server.close()
        if isinstance(asked, Unread):
            return server.unread(asked.action, asked.problem)
        return server.answered(asked.action, server.agent.call(asked.action, asked.arguments))


def _cut(line: bytes) -> NotUnderstood:
    if len(line) > LINE_LIMIT:
        return NotUnderstood(problem=f"A line has at most {LINE_LIMIT} bytes.")
    return NotUnderstood(problem="The line ended in the middle.")
