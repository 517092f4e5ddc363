"""A Docker engine for faults alone, so that they disturb nobody; only root can start one."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def started(folder: Path, *, shared: bool) -> Iterator[None]:
    """Start one and put the task's image into it; with `shared`, use the one that there is."""
    if shared or os.geteuid() or not shutil.which("dockerd"):
        yield
        return
    engine = engines.connect()
    tag = Images(engine, places.cache()).ensure(library.load(TASK), print).tag
    folder.mkdir()
    engine.save(tag, folder / "image.tar")
    engine.close()
    with tempfile.TemporaryDirectory(prefix="chaos-engine-") as near:
        address = f"unix://{near}/engine.sock"
        process = subprocess.Popen(
            (
                "dockerd", "--data-root", folder / "data", "--exec-root", f"{near}/exec",
                "--pidfile", f"{near}/pid", "-H", address, "--bridge", "none", "--iptables=false",
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        before = os.environ.get("DOCKER_HOST")
        os.environ["DOCKER_HOST"] = address
        try:
            _await()
            _load(folder / "image.tar", address)
            yield
        finally:
            process.terminate()
            process.wait(SECONDS)
            if before is None:
                del os.environ["DOCKER_HOST"]
            else:
                os.environ["DOCKER_HOST"] = before


def _load(archive: Path, address: str) -> None:
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
