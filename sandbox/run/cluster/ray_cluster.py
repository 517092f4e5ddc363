"""Ray as the cluster: https://docs.ray.io/en/latest/ray-core/walkthrough.html.

A node counts the processors and the memory that its tasks say they take. Who starts a node with the
resource `sandbox` (`ray start --resources '{"sandbox": 4}'`) bounds how many cells it does at once.
"""

import contextlib
import importlib
import logging
import os
import re
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from types import ModuleType
from typing import Protocol

from sandbox.model.errors import UsageError
from sandbox.run.cluster.cell import Cell, Delivery
from sandbox.run.cluster.cluster import ClusterError, Kept, Needs, NodeLostError, Work
from sandbox.run.cluster.node import GRACE, perform

LOCAL = re.compile(r"local-cluster:([1-9]\d?)")
PLACE = re.compile(rf"(ray://)?(?!local-cluster:)[^/\s]+:\d{{1,5}}|auto|{LOCAL.pattern}")
PLACES = "Give --on HOST:PORT, auto, ray://HOST:10001 or local-cluster:N."

SLOTS = "sandbox"
"""The resource of which a cell takes one, where a node has it."""

HEAD_SECONDS = 10.0
"""How long a head may be away that is only slow."""

AGAIN = 3
"""How often a cell is done again of which a node's end, or its process's, has left nothing."""


class Nodes(Protocol):
    """Nodes that were started here."""

    address: str

    def add_node(self, *, num_cpus: int, include_dashboard: bool) -> object:
        """Start one more."""

    def shutdown(self) -> None:
        """End them."""


class RayCluster:
    """A cluster of Ray, or nodes on this machine that end with it."""

    def __init__(self, ray: ModuleType, local: Nodes | None, head: str | None) -> None:
        """`head` is where the head listens, where that can be reached from here."""
        self._ray, self._local, self._head = ray, local, head
        self._perform = ray.remote(_on_node)

    @classmethod
    def connect(cls, place: str) -> "RayCluster":
        """Reach `ray://HOST:PORT`, an address, `auto`, or make `local-cluster:N`.

        UsageError where Ray is not installed; ClusterError where nothing answers.
        """
        if not PLACE.fullmatch(place):
            raise UsageError(f"{place} is not where a cluster can be.", PLACES)
        wanted = LOCAL.fullmatch(place)
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if not wanted:
            # Ray's own library would end this process, with exit code 1, a minute after the head's
            # end. It is noticed here before that.
            os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", "86400")
        try:
            ray = importlib.import_module("ray")
        except ImportError as error:
            raise UsageError(
                "Ray is not installed here.", "Install it: pip install 'sandbox[ray]'."
            ) from error
        local = _nodes(int(wanted[1])) if wanted else None
        try:
            if not wanted:
                _check_listens(place.removeprefix("ray://"))  # Ray tries for minutes
            address = local.address if local else place
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            if local:
                local.shutdown()
            first = str(error).strip().partition("\n")[0]
            raise ClusterError(f"No cluster answers at {place}: {first}", PLACES) from error
        head = None
        if not place.startswith("ray://"):
            head = ray.get_runtime_context().gcs_address
        return cls(ray, local, head)

    def width(self, needs: Needs) -> int:
        """How many cells it can do at once now."""
        return max(1, sum(_fitting(node, needs) for node in self._resources()))

    def keep(self, data: bytes) -> Kept:
        """Hold bytes for the nodes, each of which gets them when it asks."""
        with self._reached():
            return self._ray.put(data)

    def begin(self, cell: Cell, needs: Needs, image: Kept | None) -> Work:
        """Have a cell done."""
        nodes = [node for node in self._resources() if node.get("CPU")]
        cpus = max((node["CPU"] for node in nodes), default=needs.cpus)
        memory = max((int(node.get("memory", 0)) for node in nodes), default=needs.memory_bytes)
        slots = any(SLOTS in node for node in nodes)
        with self._reached():
            task = self._perform.options(
                name=f"{cell.job.task} {cell.job.trial}",
                num_cpus=min(needs.cpus, cpus),
                memory=min(needs.memory_bytes, memory),
                resources={SLOTS: 1} if slots else {},
                max_retries=AGAIN,
            )
            # In a list it is fetched when it is asked for, and not before the task begins.
            work: Work = task.remote(cell, [] if image is None else [image])
            return work

    def over(self, works: Sequence[Work], seconds: float) -> Sequence[Work]:
        """Wait until something is over, at most so long; give what is."""
        with self._reached():
            done, _ = self._ray.wait(list(works), num_returns=1, timeout=seconds)
        return list(done)

    def delivery(self, work: Work) -> Delivery:
        """Give what came of something that is over. NodeLostError where nothing did."""
        errors = self._ray.exceptions
        with self._reached():
            try:
                found = self._ray.get(work)
            except errors.RayTaskError as error:
                raise NodeLostError(f"The node could not do it: {_last(error)}") from error
            except (errors.TaskCancelledError, errors.TaskUnschedulableError) as error:
                raise NodeLostError(f"It was not done: {_first(error)}") from error
            except (
                errors.WorkerCrashedError,
                errors.NodeDiedError,
                errors.ObjectLostError,
                errors.OutOfMemoryError,
                errors.LocalRayletDiedError,
            ) as error:
                raise NodeLostError(f"What did it is gone: {_first(error)}") from error
        if not isinstance(found, Delivery):
            raise NodeLostError("The node gave something else than a run.")
        return found

    def cancel(self, works: Sequence[Work]) -> None:
        """Interrupt what goes on, and wait for it; begin nothing of the rest."""
        with self._reached():
            for work in works:
                self._ray.cancel(work, force=False)
            self._ray.wait(list(works), num_returns=len(works), timeout=GRACE)

    def close(self) -> None:
        """Let go of the cluster."""
        self._ray.shutdown()
        if self._local:
            self._local.shutdown()

    def _resources(self) -> list[dict[str, float]]:
        """Give what each node has; a head that has just gone does not answer that for hours."""
        found: Future[list[dict[str, float]]] = Future()

        def ask() -> None:
            try:
                alive = (node for node in self._ray.nodes() if node["Alive"])
                found.set_result([node["Resources"] for node in alive])
            except Exception as error:  # noqa: BLE001 - raised again where it is waited for
                found.set_exception(error)

        with self._reached():
            threading.Thread(target=ask, name="nodes", daemon=True).start()
            try:
                return found.result(HEAD_SECONDS)
            except TimeoutError as error:
                raise ConnectionError(f"its head says nothing for {HEAD_SECONDS:g} s") from error

    def _check_head(self) -> None:
        """ConnectionError where nothing listens at the head for a while."""
        end = time.monotonic() + HEAD_SECONDS
        while self._head is not None:
            try:
                _check_listens(self._head)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(1)
            else:
                return

    @contextlib.contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            self._check_head()
            yield
        except (OSError, self._ray.exceptions.RaySystemError) as error:
            raise ClusterError(
                f"The cluster went away: {_first(error)}",
                "What has come back is kept; the same command goes on, once it is there again.",
            ) from error


def _check_listens(address: str) -> None:
    """OSError where nothing does at HOST:PORT; `auto` is Ray's to find."""
    if address != "auto":
        host, _, port = address.rpartition(":")
        socket.create_connection((host, int(port)), HEAD_SECONDS).close()


def _on_node(cell: Cell, image: list[Kept]) -> Delivery:
    """Do a cell; this is what the cluster runs."""
    ray = importlib.import_module("ray")
    return perform(cell, (lambda: ray.get(image[0])) if image else None)


def _nodes(count: int) -> Nodes:
    """Start nodes on this machine: one of each of its processors, or a share of them."""
    cluster: Nodes = importlib.import_module("ray.cluster_utils").Cluster()
    share = max(1, len(os.sched_getaffinity(0)) // count)
    for _ in range(count):
        cluster.add_node(num_cpus=share, include_dashboard=False)
    return cluster


def _fitting(resources: dict[str, float], needs: Needs) -> int:
    """How many cells fit onto a node, one at least where it has a processor."""
    cpus = resources.get("CPU", 0.0)
    if not cpus:
        return 0
    most = [int(cpus // needs.cpus), int(resources.get("memory", 0) // needs.memory_bytes)]
    if SLOTS in resources:
        most.append(int(resources[SLOTS]))
    return max(1, min(most))


def _first(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).partition("\n")[0]


def _last(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).rpartition("\n")[2]
