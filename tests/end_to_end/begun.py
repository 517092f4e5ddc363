"""A run that is in the middle of a command when the test goes on."""

import os
import select
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from sandbox.model.store import Store
from tests.end_to_end.commands import SANDBOX, SECONDS, TASK, Ended, quoted

PROGRAM = """
import json, os, subprocess, sys
folder = os.environ["BEGUN"]
child = subprocess.Popen(["sleep", "600"])
def ask(number, line):
    arguments = {"command": line}
    print(json.dumps({"id": number, "action": "run_command", "arguments": arguments}), flush=True)
input()
ask("1", "echo begun > /tmp/begun")
input()
ask("2", os.environ["COMMAND"])
with open(folder + "/begun", "w") as pipe:
    print(os.getpid(), child.pid, file=pipe)
input()
"""
"""An agent that starts a process of its own and asks for commands, of which the second is long."""


class Begun:
    """The command line, running; the pipe `begun` in `folder` joins agent and test."""

    def __init__(
        self, folder: Path, runs: Path, command: str = "sleep 600", **environment: str
    ) -> None:
        os.mkfifo(folder / "begun")
        program = folder / "agent.py"
        program.write_text(PROGRAM)
        self._runs = runs
        self.process = subprocess.Popen(
            [SANDBOX, "run", TASK, "--agent", quoted(program), "--runs", str(runs)],
            env={**os.environ, "BEGUN": str(folder), "COMMAND": command, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.agents = [int(number) for number in self._wait(folder / "begun").split()]
        """Processes of the agent on this host."""

    def _wait(self, pipe: Path) -> bytes:
        """What the agent says once it has begun; a run that ends without it is told."""
        end = time.monotonic() + SECONDS
        near = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            while not select.select([near], [], [], 0.1)[0]:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.process.kill()
                    raise AssertionError(self.process.communicate())
            return os.read(near, select.PIPE_BUF)
        finally:
            os.close(near)

    @property
    def id(self) -> str:
        """The run's id."""
        return Store(self._runs).find("last").id

    def end(self) -> Ended:
        """Wait for the end."""
        out, err = self.process.communicate(timeout=SECONDS)
        return Ended(self.process.returncode, out.decode(), err.decode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.communicate()
