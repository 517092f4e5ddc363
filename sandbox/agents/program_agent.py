"""An agent that is a program of the host: JSON lines over its standard input and output.

It runs in the directory and with the environment of whoever started the run, below a guard, so that
what it started ends with it. `docs/agent-protocol.md` describes the lines. Its standard error goes
to a log, of which a bounded part is kept.
"""

import contextlib
import os
import selectors
import shlex
import subprocess
import time
from pathlib import Path
from typing import IO

from sandbox.agents.base import SEE_LOG, Departure, Garbage, Withdrawal
from sandbox.agents.line_buffer import Lines
from sandbox.agents.log import LogDrain
from sandbox.agents.program import Program, how_it_ended
from sandbox.model.action import Request
from sandbox.model.base import Record
from sandbox.model.briefing import Briefing, Ended, Reply
from sandbox.model.errors import AgentError, ModelError

GRACE_SECONDS = 2.0
"""How long an agent may take to end by itself once it was told that the run is over."""

_EXIT_SECONDS = 0.5
"""How long after the end of its output an agent may take to exit, to learn its status."""

_LONGEST_PAUSE = 0.05
_CHUNK = 1 << 16


class CommandAgent:
    """Starts a command line and speaks the agent protocol with it."""

    def __init__(self, command: str, log: Path | None = None, grace: float = GRACE_SECONDS) -> None:
        """Take a command line, split as a shell would; AgentError where it cannot be split."""
        self.name = command
        self._log = log
        self._grace = grace
        self._process: Program | None = None
        self._drain: LogDrain | None = None
        self._selector = selectors.DefaultSelector()
        self._outgoing = bytearray()
        self._lines = Lines()
        self._at_end = False
        self._exit: int | None = None
        try:
            self._arguments = shlex.split(command)
        except ValueError as error:
            raise AgentError(f"The agent's command cannot be split: {error}: {command}") from error
        if not self._arguments:
            raise AgentError("The agent's command is empty.", "Name a program: --agent 'CMD ARG'.")

    def begin(self, briefing: Briefing) -> None:
        """Start the program and queue its briefing."""
        environment = {**os.environ, "SANDBOX_TASK": briefing.task, "SANDBOX_RUN": briefing.run}
        self._process = Program(
            self._arguments,
            environment=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        stdin, stdout, stderr = self._pipes()
        os.set_blocking(stdin.fileno(), False)
        os.set_blocking(stdout.fileno(), False)
        self._selector.register(stdout, selectors.EVENT_READ)
        self._watch_exit(self._process)
        self._drain = LogDrain(stderr, self._log)
        self._send(briefing)

    def next(self, reply: Reply | None, timeout: float) -> Request | Garbage | None:
        """Send the reply and wait for the next line; ModelError for one that withdraws the run."""
        if reply is not None:
            self._send(reply)
        deadline = time.monotonic() + timeout
        while not self._lines.ready:
            if self._at_end:
                return None
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise TimeoutError(f"The agent sent nothing for {timeout:.0f} seconds.")
            self._exchange(remaining)
        asked = self._lines.ready.popleft()
        if isinstance(asked, Withdrawal):
            raise ModelError(f"The agent asked not to be counted: {asked.reason}", SEE_LOG)
        return asked

    def ending(self) -> Departure:
        """Name the exit status, or say that only the output was closed."""
        match self._wait(_EXIT_SECONDS):
            case None:
                return Departure("The agent closed its output and went on running.")
            case status:
                return how_it_ended(status)

    def close(self, reply: Reply | None, ended: Ended) -> None:
        """Send the last lines, wait briefly, then kill it with all that it started."""
        if self._process is not None and self._process.returncode is None:
            if reply is not None:
                self._send(reply)
            self._send(ended)
            try:
                self._wait(self._grace, close_input=True)
            finally:
                self._kill(self._process)
        if self._drain is not None:
            self._drain.close()
        self._selector.close()
        if self._exit is not None:
            os.close(self._exit)
            self._exit = None

    def _kill(self, process: Program) -> None:
        process.kill_tree()
        stdin, stdout, _ = self._pipes()
        stdin.close()
        stdout.close()

    def _watch_exit(self, process: Program) -> None:
        """Notice the program's exit also where a process that it left holds its output open."""
        # Linux 5.3 has it; elsewhere only the end of the output tells.
        with contextlib.suppress(AttributeError, OSError):
            self._exit = os.pidfd_open(process.pid)
            self._selector.register(self._exit, selectors.EVENT_READ)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        process = self._process
        if process is None or not (process.stdin and process.stdout and process.stderr):
            raise RuntimeError("begin first")
        return process.stdin, process.stdout, process.stderr

    def _send(self, line: Record) -> None:
        """Queue a line; one that the agent does not read is dropped at the end."""
        stdin, _, _ = self._pipes()
        if stdin.closed:
            return
        self._outgoing += line.model_dump_json().encode() + b"\n"
        self._flush()

    def _flush(self) -> None:
        stdin, _, _ = self._pipes()
        watched = stdin in self._selector.get_map()
        try:
            while self._outgoing:
                del self._outgoing[: os.write(stdin.fileno(), self._outgoing[:_CHUNK])]
        except BlockingIOError:
            if not watched:
                self._selector.register(stdin, selectors.EVENT_WRITE)
            return
        except BrokenPipeError:
            self._outgoing.clear()
        if watched:
            self._selector.unregister(stdin)

    def _exchange(self, timeout: float) -> None:
        """Read and write what can be read and written, waiting for one of the two."""
        stdin, stdout, _ = self._pipes()
        ready = {key.fileobj for key, _ in self._selector.select(timeout)}
        if stdin in ready:
            self._flush()
        if stdout in ready:
            self._read(os.read(stdout.fileno(), _CHUNK))
        elif self._exit in ready:  # and all that it said has been read
            self._read(b"")

    def _read(self, chunk: bytes) -> None:
        self._lines.feed(chunk)
        if not chunk:
            self._at_end = True
            for watched in (self._pipes()[1], self._exit):
                if watched is not None:
                    self._selector.unregister(watched)

    def _wait(self, seconds: float, *, close_input: bool = False) -> int | None:
        """Exit status as `Popen.returncode`, None where it still runs; what it says is dropped.

        The process is not reaped, so that its number is not given away before it is let go.
        """
        process = self._process
        if process is None:
            raise RuntimeError("begin first")
        deadline = time.monotonic() + seconds
        pause = 0.001
        while True:
            if close_input and not self._outgoing:
                self._pipes()[0].close()
            status = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if status is not None:
                exited = status.si_code == os.CLD_EXITED
                return status.si_status if exited else -status.si_status
            if time.monotonic() >= deadline:
                return None
            self._exchange(pause)
            self._lines.ready.clear()
            pause = min(2 * pause, _LONGEST_PAUSE)
