"""The real supervisor, as a child of the tests and with their rights."""

import contextlib
import os
import platform
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.container.supervisor import compiler
from sandbox.container.supervisor.client import Supervisor
from sandbox.container.supervisor.process import RemoteProcess
from sandbox.model.session import Command, Completed, User
from tests.sandbox.container.supervisor.streams import PipeStream, SocketStream

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


@pytest.fixture(scope="session")
def binary() -> Path:
    """Another build of it may be given, such as one with sanitizers."""
    given = os.environ.get("SANDBOX_TEST_SUPERVISOR")
    return Path(given) if given else compiler.binary(platform.machine())


Start = Callable[..., Local]


@pytest.fixture
def start(binary: Path) -> Iterator[Start]:
    """Starts supervisors: over pipes (`stdio`) or a socket, under limits, as another user."""
    with contextlib.ExitStack() as stack:

        def begin(
            how: str = "unix",
            *arguments: str,
            limits: dict[int, int] | None = None,
            user: User = SELF,
        ) -> Local:
            def prepare() -> None:
                for what, value in (limits or {}).items():
                    resource.setrlimit(what, (value, value))
                if user != SELF:
                    os.setgroups([])
                    os.setgid(user.gid)
                    os.setuid(user.uid)

            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sandbox-test-")))
            place.chmod(0o755)
            program = shutil.copy(binary, place / "supervisor")  # where any user reaches it
            launch = by_pipes if how == "stdio" else by_socket
            local = launch(place, [str(program)], [*arguments], prepare)
            stack.callback(end, local)
            return local

        yield begin


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


def by_socket(
    place: Path, program: list[str], arguments: list[str], prepare: Callable[[], None]
) -> Local:
    path = place / "socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        path.chmod(0o777)
        listening.listen(1)
        listening.settimeout(SECONDS)
        process = subprocess.Popen([*program, "--unix", path, *arguments], preexec_fn=prepare)
        connection, _ = listening.accept()
    return Local(process, Supervisor(SocketStream(connection), SECONDS))


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


def end(local: Local) -> None:
    local.supervisor.close()
    try:
        local.process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        local.process.send_signal(signal.SIGKILL)
        raise


@pytest.fixture(params=["full", "plain"])
def local(start: Start, request: pytest.FixtureRequest) -> Local:
    """With and without what old kernels and processors lack."""
    plain = request.param == "plain"
    local = start("unix", *(["--plain"] if plain else []))
    assert not plain or not local.supervisor.greeting.features & {"openat2", "mount_id"}
    return local
