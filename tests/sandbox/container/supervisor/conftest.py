"""The real supervisor, as a child of the tests and with their rights."""

import contextlib
import os
import platform
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.container.supervisor import compiler
from sandbox.container.supervisor.client import Supervisor
from sandbox.model.session import User
from tests.sandbox.container.supervisor.local import SECONDS, SELF, Local, Start, by_pipes, end
from tests.sandbox.container.supervisor.streams import SocketStream
from tests.sandbox.container.supervisor.watched import EACH, HELD, Watched, copied, watched


@pytest.fixture(scope="session")
def binary() -> Path:
    """Another build of it may be given, such as one with sanitizers."""
    given = os.environ.get("SANDBOX_TEST_SUPERVISOR")
    return Path(given) if given else compiler.binary(platform.machine())


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


@pytest.fixture(params=["full", "plain"])
def local(start: Start, request: pytest.FixtureRequest) -> Local:
    """With and without what old kernels and processors lack."""
    plain = request.param == "plain"
    local = start("unix", *(["--plain"] if plain else []))
    assert not plain or not local.supervisor.greeting.features & {"openat2", "mount_id"}
    return local


@pytest.fixture(scope="session")
def attacks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of attacks.c, static."""
    folder = tmp_path_factory.mktemp("attacks")
    target = f"{platform.machine()}-linux-musl"
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-static", "-O1", "-pthread"]
    source = Path(__file__).with_name("attacks.c")
    flags = ["-D_GNU_SOURCE", "-Wall", "-Werror", "-o", str(folder / "attacks")]
    subprocess.run([*zig, *flags, str(source)], check=True)
    return folder / "attacks"


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user reaches and writes.

    Not below pytest's own, which another run of pytest closes to others whenever it begins.
    """
    with tempfile.TemporaryDirectory(prefix="sandbox-test-") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@pytest.fixture(params=EACH)
def each(start: Start, request: pytest.FixtureRequest, shared: Path) -> Watched:
    how, user, coverage, *options = request.param
    return watched(start, how, shared, user, coverage, *options)


@pytest.fixture(params=HELD)
def held(start: Start, request: pytest.FixtureRequest, shared: Path) -> Watched:
    how, user, coverage, *options = request.param
    return watched(start, how, shared, user, coverage, *options)


@pytest.fixture
def own(attacks: Path, shared: Path) -> Path:
    """The attacks, where anyone can run them."""
    return copied(attacks, shared / "attacks")
