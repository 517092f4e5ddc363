"""What an experiment wants of a cluster, whoever makes it one."""

from collections.abc import Hashable, Sequence
from typing import Protocol

from sandbox.model.base import Record
from sandbox.model.errors import EngineError, SandboxError
from sandbox.run.cluster.cell import Cell, Delivery


class ClusterError(EngineError):
    """The cluster cannot be reached, or went away."""


class NodeLostError(SandboxError):
    """What did a cell is gone, and so it was each time that it was tried again."""


class Needs(Record):
    """What a node must have free for a cell."""

    cpus: float
    memory_bytes: int


Work = Hashable
"""A cell that was begun, as the cluster knows it."""

Kept = object
"""Bytes that the cluster holds, as it knows them."""


class Cluster(Protocol):
    """Does cells somewhere. All methods raise ClusterError where it is gone."""

    def width(self, needs: Needs) -> int:
        """How many cells it can do at once now."""

    def keep(self, data: bytes) -> Kept:
        """Hold bytes for the nodes, each of which gets them when it asks."""

    def begin(self, cell: Cell, needs: Needs, image: Kept | None) -> Work:
        """Have a cell done."""

    def over(self, works: Sequence[Work], seconds: float) -> Sequence[Work]:
        """Wait until something is over, at most so long; give what is."""

    def delivery(self, work: Work) -> Delivery:
        """Give what came of something that is over. NodeLostError where nothing did."""

    def cancel(self, works: Sequence[Work]) -> None:
        """Interrupt what goes on, and wait for it; begin nothing of the rest."""

    def close(self) -> None:
        """Let go of the cluster."""
