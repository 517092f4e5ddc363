"""The real supervisor, as a child of the tests and with their rights."""

import contextlib
import os
import platform
import resource
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.model.session import Command, Completed, User
from sandbox.supervisor import build
from sandbox.supervisor.client import Supervisor
from sandbox.supervisor.streams import PipeStream, SocketStream

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
    return Command(argv, **{"environment": ENVIRONMENT, "user": SELF, "timeout": SECONDS} | options)


@pytest.fixture(scope="session")
def binary() -> Path:
    """Another build of it may be given, such as one with sanitizers."""
    given = os.environ.get("SANDBOX_TEST_SUPERVISOR")
    return Path(given) if given else build.binary(platform.machine())


Start = Callable[..., Local]


@pytest.fixture
def start(binary: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts supervisors: by `stdio` or `unix`, with more arguments, under limits."""
    with contextlib.ExitStack() as stack:

        def begin(
            how: str = "unix",
            *arguments: str,
            limits: dict[int, int] | None = None,
            user: User = SELF,
        ) -> Local:
            options: dict[str, Any] = {}
            program = binary
            if user != SELF:
                program = Path(shutil.copy(binary, "/tmp/sandbox-test-supervisor"))
                stack.callback(program.unlink, missing_ok=True)
                options = {"user": user.uid, "group": user.gid, "extra_groups": []}

            def lower() -> None:
                for what, value in (limits or {}).items():
                    resource.setrlimit(what, (value, value))

            if how == "stdio":
                process = subprocess.Popen(
                    [program, "--stdio", *arguments],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    preexec_fn=lower,
                    **options,
                )
                supervisor = Supervisor(PipeStream(process), SECONDS)
            else:
                ours, theirs = socket.socketpair()
                with theirs:
                    process = subprocess.Popen(
                        [program, "--stdio", *arguments],
                        stdin=theirs,
                        stdout=theirs,
                        preexec_fn=lower,
                        **options,
                    )
                supervisor = Supervisor(SocketStream(ours), SECONDS)
            local = Local(process, supervisor)
            stack.callback(end, local)
            return local

        yield begin


def end(local: Local) -> None:
    local.supervisor.close()
    try:
        local.process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        local.process.send_signal(signal.SIGKILL)
        raise


@pytest.fixture
def local(start: Start) -> Local:
    return start()
