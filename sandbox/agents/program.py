"""A program of the host that ends with all it has started, however that hides."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from sandbox.agents import guard
from sandbox.agents.base import Departure
from sandbox.model.errors import AgentError

Stream = int | IO[bytes]


class Program(subprocess.Popen[bytes]):
    """A running program; `returncode` and the signals are its own, `pid` is its guard's."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        stdin: Stream,
        stdout: Stream,
        stderr: Stream,
        cwd: Path | None = None,
    ) -> None:
        """Start it below a guard; AgentError where it cannot be started."""
        leash, self._leash = os.pipe()
        report, told = os.pipe()
        command = (sys.executable, "-I", "-S", guard.__file__, str(leash), str(told), *arguments)
        try:
            super().__init__(
                command,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=dict(environment),
                cwd=cwd,
                start_new_session=True,
                pass_fds=(leash, told),
                bufsize=0,
            )
        except OSError as error:
            os.close(report)
            self.release()
            raise _failure(arguments[0], error.strerror or str(error)) from error
        finally:
            os.close(leash)
            os.close(told)
        with open(report, "rb") as answer:  # noqa: PTH123 - a descriptor
            number = answer.read()
        if number:
            self.kill_tree()
            for stream in (self.stdin, self.stdout, self.stderr):
                if stream is not None:
                    stream.close()
            raise _failure(arguments[0], os.strerror(int(number)))

    def kill_tree(self) -> None:
        """Kill it and every descendant, and return when none is left."""
        self.release()
        self.wait()

    def interrupt(self) -> None:
        """Send it and its group SIGINT, as a terminal would."""
        with contextlib.suppress(ProcessLookupError):
            self.send_signal(signal.SIGINT)

    def release(self) -> None:
        """Let the leash go: the guard kills whatever there is, and ends."""
        if self._leash >= 0:
            with contextlib.suppress(OSError):
                os.close(self._leash)
            self._leash = -1


def how_it_ended(status: int) -> Departure:
    """Say how a program ended whose `returncode` is given."""
    if status < 0:
        return Departure(f"The agent was ended by {signal.Signals(-status).name}.", status)
    return Departure(f"The agent exited with status {status}.", status)


def _failure(program: str, problem: str) -> AgentError:
    return AgentError(
        f"The agent could not be started: {program}: {problem}.",
        "Check the command; it is looked up in PATH and run in the current directory.",
    )
