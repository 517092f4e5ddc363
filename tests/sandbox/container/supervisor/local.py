"""The real supervisor, as a child of a test and with its rights."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox.container.supervisor.client import Supervisor
from sandbox.container.supervisor.process import RemoteProcess
from sandbox.model.session import Command, Completed, User
from tests.sandbox.container.supervisor.streams import PipeStream

SELF = User(os.getuid(), os.getgid())
ENVIRONMENT = {"PATH": os.environ["PATH"]}
SECONDS = 60.0


class Local:
    """A supervisor in a process group of its own, with what a test needs to know of it."""

    def __init__(self, process: subprocess.Popen[bytes], supervisor: Supervisor) -> None:
        self.process = process
        self.supervisor = supervisor

    def run(self, *argv: str | bytes, **options: Any) -> Completed:  # noqa: ANN401
        return self.supervisor.run(command(*argv, **options))

    def shell(self, line: str, **options: Any) -> Completed:  # noqa: ANN401
        return self.run("/bin/sh", "-c", line, **options)


def command(*argv: str | bytes, **options: Any) -> Command:  # noqa: ANN401
    """With this user, PATH and a deadline, unless the options say otherwise."""
    defaults: dict[str, Any] = {"environment": ENVIRONMENT, "user": SELF, "timeout": SECONDS}
    return Command(argv, **(defaults | options))


Start = Callable[..., Local]


def by_pipes(
    _: Path, program: list[str], arguments: list[str], prepare: Callable[[], None]
) -> Local:
    process = subprocess.Popen(
        [*program, "--stdio", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=prepare,
    )
    return Local(process, Supervisor(PipeStream(process), SECONDS))


def end(local: Local) -> None:
    local.supervisor.close()
    try:
        local.process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        local.process.send_signal(signal.SIGKILL)
        raise


def start_until(local: Local, refusal: str, user: User) -> list[RemoteProcess]:
    """Starts sleepers until one is refused with this text."""
    processes: list[RemoteProcess] = []
    for _ in range(1000):
        try:
            processes.append(local.supervisor.start(command("sleep", "600", user=user)))
        except OSError as error:
            if refusal not in str(error):
                raise
            return processes
    raise AssertionError(f"nothing was refused with {refusal}")
