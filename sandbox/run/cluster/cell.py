"""What travels between an experiment and the nodes of a cluster."""

import hashlib

from pydantic import Field

from sandbox.model.base import Record
from sandbox.model.experiment import Plan
from sandbox.model.job import Job, JobResult


class Cell(Record):
    """One run that a node is to do."""

    version: str
    """Of this package; a node with another one does nothing."""
    experiment: str
    plan: Plan
    """Of this run alone, as the first trial."""
    image: str
    """The tag of the task's image."""

    @property
    def job(self) -> Job:
        """What is to be run."""
        return self.plan.cells[0]


class Delivery(Record):
    """What a node has made of a cell."""

    node: str
    result: JobResult | None = None
    """None where nothing was run."""
    files: dict[str, bytes] = Field(default_factory=dict)
    """The run's folder, by relative path."""
    digest: str = ""
    """`digest_of` the files."""
    lacks_image: bool = False
    """Whether the node cannot begin before it is given the image's archive."""


def digest_of(files: dict[str, bytes]) -> str:
    """SHA-256 over names, sizes and contents, in the order of the names."""
    whole = hashlib.sha256()
    for name, content in sorted(files.items()):
        whole.update(f"{len(name.encode())} {name} {len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()
