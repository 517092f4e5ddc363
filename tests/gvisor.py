"""A Docker engine of its own whose containers can run in gVisor, by Debian's `runsc`."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from sandbox.container.engines.runtimes import VARIABLE
from sandbox.model import places
from tests.chaos.own_engine import OwnEngine
from tests.unpacked import SUITE, unpacked

RUNTIME = "runsc"
OPTIONS = ("--network=none",)
"""Newer kernels have it take any name space of a network for the first one, and refuse it."""


@contextmanager
def engine(data: Path) -> Iterator[str]:
    """Start it with its data in a folder, and have the environment name it; give its address."""
    if os.geteuid() or not shutil.which("dockerd"):
        pytest.skip("only root starts an engine, and dockerd has to be there")
    with (
        tempfile.TemporaryDirectory(prefix="gvisor-engine-") as near,
        pytest.MonkeyPatch.context() as patch,
    ):
        settings = Path(near, "daemon.json")
        runtime = {"path": str(_program()), "runtimeArgs": [*OPTIONS]}
        settings.write_text(json.dumps({"runtimes": {RUNTIME: runtime}}))
        own = OwnEngine(data, Path(near), "--config-file", settings)
        patch.setenv("DOCKER_HOST", own.address)
        patch.setenv(VARIABLE, RUNTIME)
        try:
            own.begin()
            yield own.address
        finally:
            own.end()
            own.sweep()


def _program() -> Path:
    """Fetch it once; several may do so at once, and the first one's is kept."""
    kept = places.cache() / "gvisor" / SUITE
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            try:
                found = unpacked(RUNTIME, Path(folder))
            except (AssertionError, subprocess.CalledProcessError) as error:
                pytest.skip(f"Debian's package {RUNTIME} cannot be had: {error}")
            with suppress(OSError):
                found.rename(kept)
    return kept / "usr/bin" / RUNTIME
