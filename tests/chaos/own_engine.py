"""A Docker engine for faults alone, so that they disturb nobody; only root can start one."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from docker import APIClient

from sandbox.container import engines
from sandbox.model import places
from sandbox.model.errors import EngineError
from sandbox.tasks import library
from sandbox.tasks.images import Images
from tests.chaos.runs import TASK

SECONDS = 60.0
DISK_BYTES = 16 << 30
"""Of a sparse file: several runs at once may write 2 GiB each."""


class OwnEngine:
    """A daemon that can be harmed, and the disk that its containers write to."""

    def __init__(self, data: Path, near: Path, *options: str | Path) -> None:
        self.data = data
        self.address = f"unix://{near}/engine.sock"
        self._near, self._options = near, options
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Start it, also after an unclean end, and wait until it answers."""
        # Where nobody waits for orphans, it takes the containerd that it killed for a live one.
        (self._near / "exec/containerd/containerd.pid").unlink(missing_ok=True)
        self._process = subprocess.Popen(
            # Without a bridge an engine removes that of the machine's own, so it has a network
            # to itself.
            (
                "unshare", "--net",
                "dockerd", "--data-root", self.data, "--exec-root", self._near / "exec",
                "--pidfile", self._near / "pid", "-H", self.address,
                "--bridge", "none", "--iptables=false", *self._options,
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        _await()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End it, and wait for that."""
        assert self._process is not None
        self._process.send_signal(number)
        self._process.wait(SECONDS)

    def sweep(self) -> int:
        """Kill what an engine that was killed has forgotten; how many shims that were."""
        shims = [
            int(each.parent.name)
            for each in Path("/proc").glob("[0-9]*/cmdline")
            if str(self._near / "exec").encode() in _read(each)
        ]
        for shim in shims:
            children = _read(Path(f"/proc/{shim}/task/{shim}/children")).split()
            for process in (*map(int, children), shim):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        return len(shims)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # the process has gone
        return b""


@contextmanager
def started(folder: Path, *, shared: bool) -> Iterator[OwnEngine | None]:
    """Start one on a disk of its own and put the task's image into it.

    None, and the one that there is, with `shared` or where none can be started.
    """
    if shared or os.geteuid() or not shutil.which("dockerd"):
        yield None
        return
    folder.mkdir()
    save(TASK, folder / "image.tar")
    with tempfile.TemporaryDirectory(prefix="chaos-engine-") as near, _disk(folder) as data:
        own = OwnEngine(data, Path(near))
        before = os.environ.get("DOCKER_HOST")
        os.environ["DOCKER_HOST"] = own.address
        try:
            own.begin()
            load(folder / "image.tar", own.address)
            yield own
        finally:
            own.end()
            if forgotten := own.sweep():
                print(f"the engine has forgotten {forgotten} containers")  # noqa: T201
            if before is None:
                del os.environ["DOCKER_HOST"]
            else:
                os.environ["DOCKER_HOST"] = before


@contextmanager
def _disk(folder: Path) -> Iterator[Path]:
    """A file system in a file, so that whoever fills it fills nothing else."""
    image, data = folder / "disk.img", folder / "data"
    with image.open("wb") as file:
        file.truncate(DISK_BYTES)
    subprocess.run(("mkfs.ext4", "-q", "-F", "-m", "0", image), check=True)
    data.mkdir()
    subprocess.run(("mount", "-o", "loop", image, data), check=True)
    try:
        yield data
    finally:
        subprocess.run(("umount", "-l", data), check=True)


def save(task: str, archive: Path) -> None:
    """Write the image of a task, from the engine that there is."""
    engine = engines.connect()
    engine.save(Images(engine, places.cache()).ensure(library.load(task), print).tag, archive)
    engine.close()


def load(archive: Path, address: str) -> None:
    """Put an image into the engine of an address."""
    client: Any = APIClient(address, timeout=int(SECONDS))
    try:
        with archive.open("rb") as file:
            for told in client.load_image(file):
                assert "error" not in told, told
    finally:
        client.close()


def _await() -> None:
    end = time.monotonic() + SECONDS
    while True:
        try:
            engines.connect().close()
        except EngineError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
        else:
            return
