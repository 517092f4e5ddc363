"""A cluster of Ray on this machine, whose nodes have engines of their own and can be killed."""

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from tests.chaos.own_engine import OwnEngine

SECONDS = 120.0


class Nodes:
    """A head that does nothing itself, and nodes of one processor."""

    def __init__(self) -> None:
        cluster = importlib.import_module("ray.cluster_utils").Cluster
        head = {"num_cpus": 0, "include_dashboard": False}
        self._cluster: Any = cluster(initialize_head=True, head_node_args=head)
        self.address: str = self._cluster.address

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.shutdown()

    def add(self, engine: str) -> object:
        """Start a node with an engine of its own."""
        return self._cluster.add_node(num_cpus=1, env_vars={"DOCKER_HOST": engine})

    def kill(self, node: Any) -> None:  # noqa: ANN401 - Ray has no types for it
        """Kill a node, SIGKILL, and all that it is made of."""
        node.kill_raylet(check_alive=False)

    def kill_head(self) -> None:
        """Kill what knows of all nodes; they end by themselves."""
        self._cluster.head_node.kill_gcs_server(check_alive=False)


@contextmanager
def begun(*words: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Start `sandbox`, killed at the end where it still runs."""
    command = Path(sys.executable).with_name("sandbox")
    process = subprocess.Popen(
        [str(command), *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    except AssertionError:
        process.kill()
        print(process.communicate()[0])  # noqa: T201 - what pytest shows where a test fails
        raise
    finally:
        process.kill()
        process.wait()


def until(holds: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it was waited for in vain"
        time.sleep(0.2)


def containers(engine: str) -> list[str]:
    """All containers of an engine that are this project's."""
    words = ("docker", "-H", engine, "ps", "--all", "--quiet", "--filter", "label=sandbox.managed")
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


def forget_images(engine: OwnEngine) -> None:
    """Leave an engine without any image."""
    words = ("docker", "-H", engine.address, "image", "ls", "--quiet")
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    for image in set(found):
        subprocess.run(
            ("docker", "-H", engine.address, "image", "rm", "--force", image),
            capture_output=True,
            check=True,
        )


DEFAULT = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
"""The engine that this machine has, taken before a test starts another one."""
