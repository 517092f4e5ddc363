"""What is known of a run besides its evidence: `run.json`."""

from typing import Literal

from sandbox.model.allowance import UNBOUNDED, Allowance
from sandbox.model.base import Record
from sandbox.model.client import ClientRecord
from sandbox.model.coverage import Coverage
from sandbox.model.how_ended import RunEnd
from sandbox.model.verdict import Verdict

Mode = Literal["raw", "minimal"]
"""What stands between agent and run: nothing, or repairs of spelling (`--mode minimal`)."""


class Actor(Record):
    """Who acts, besides the label that runs are counted by."""

    command: str = ""
    """What `--agent` said."""
    model: str = ""
    """The model that was asked for by name."""
    digest: str = ""
    """SHA-256 of the agent's own files, where its command names some."""
    tags: dict[str, str] = {}
    """What `--tag` said."""

    def version(self, client: ClientRecord | None) -> str:
        """Say what tells two agents of one label apart: model, files, version of the client."""
        parts = (self.model, self.digest[:8], client.version if client else "")
        return " ".join(filter(None, parts))


UNKNOWN = Actor()


class RunRecord(Record):
    """A run, from its start on; `ended` and `verdict` come with its end."""

    id: str
    task: str
    task_digest: str
    image: str
    """Tag, which is the digest of the image's inputs."""
    image_id: str
    operators: tuple[str, ...] = ()
    seed: int = 0
    agent: str
    """Its label: what `--name` said, else its kind with its model, else its command."""
    actor: Actor = UNKNOWN
    experiment: str = ""
    """The name of the experiment that it is a part of."""
    approver: str = "script"
    """Who answered, as `--approver` names it."""
    inside: bool = False
    """Whether the agent itself ran in the container."""
    mode: Mode = "raw"
    allowance: Allowance = UNBOUNDED
    """Bounds besides the task's."""
    sandbox_version: str
    engine: str
    """Name and version."""
    coverage: Coverage | None = None
    """Which of the agent's processes were seen; None where its container did not start."""
    started: str
    """UTC, ISO 8601."""
    ended: str | None = None
    end: RunEnd | None = None
    """How it ended; None before, in runs of 0.1, and where the harness was killed."""
    verdict: Verdict | None = None
    problem: str = ""
    """What failed, where the verdict is `error`."""
    evidence: dict[str, str] = {}
    """SHA-256 of each file of the run folder that the grade is made of, once all are there."""
    grade: str = ""
    """SHA-256 of the grade as it was stored; empty before, and in runs of 0.1."""
    client: ClientRecord | None = None
    """Where the agent is a client that a preset describes."""
    container: str | None = None
    """Where it was kept (`--keep`), its name."""

    @property
    def version(self) -> str:
        """What tells the agent from another of its label, where that is known."""
        return self.actor.version(self.client)

    @property
    def crashed(self) -> bool:
        """Whether its agent broke off without an answer, and what it left is not right."""
        ended = self.end is not None and self.end.how == "crashed"
        return ended and self.verdict is Verdict.FAILED

    @property
    def word(self) -> str:
        """What became of it: its verdict, `crashed`, or `running`."""
        if self.verdict is None:
            return "running"
        return "crashed" if self.crashed else self.verdict.value

    @property
    def harness(self) -> str:
        """What stood between a model and the run, for reports.

        `product` is a client with a harness of its own, beside the container or inside; `oracle`
        is the task's script.
        """
        if (self.actor.command or self.agent) == "oracle":
            return "oracle"
        return "product" if self.inside or self.client is not None else self.mode

    @property
    def acting(self) -> str:
        """Who acted, for reports: the agent, where it ran, what stood beside it and bounded it."""
        where = "inside" if self.inside else self.mode
        beside = [each for each in (where, str(self.allowance)) if each not in ("raw", "")]
        return f"{self.agent} [{'; '.join(beside)}]" if beside else self.agent
