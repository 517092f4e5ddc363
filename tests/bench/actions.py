"""Single actions: a command that does nothing, a file of 1 MB in and out."""

import io
import os
import tarfile

import docker

from sandbox.model.session import AGENT, Command
from tests.bench.clock import Measure, interleaved
from tests.bench.fixture import LABELS, open_session, prepared

MEGABYTE = b"0123456789abcdef" * (1 << 16)


def spawn() -> None:
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


def archive(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        member = tarfile.TarInfo("put")
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def measure() -> list[Measure]:
    client = docker.from_env()
    with prepared() as (engine, _, image), open_session(engine, image.tag) as session:
        container = client.containers.run(
            image.tag, ["/bin/sleep", "600"], network_mode="none", labels=LABELS, detach=True
        )
        true = Command(("/bin/true",))
        action, floor = interleaved(200, lambda: session.run(true), spawn)
        _, exec_run = interleaved(
            20, lambda: session.run(true), lambda: container.exec_run(["/bin/true"])
        )
        tar = archive(MEGABYTE)
        write, put = interleaved(
            20,
            lambda: session.write("/tmp/ours", MEGABYTE, user=AGENT),
            lambda: container.put_archive("/tmp", tar),
        )
        read, get = interleaved(
            20,
            lambda: session.read("/tmp/ours"),
            lambda: b"".join(container.get_archive("/tmp/put")[0]),
        )
        container.remove(force=True)
    client.close()
    return [
        ("an action (`true`)", "posix_spawn", action, floor, 2, False),
        ("an action (`true`)", "docker-py exec_run", action, exec_run, 20, True),
        ("write 1 MB", "put_archive", write, put, 10, True),
        ("read 1 MB", "get_archive", read, get, 10, True),
    ]
