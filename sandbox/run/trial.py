"""What one run is made of: a task, its image, an agent, and who answers and listens."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sandbox.agents.base import Agent
from sandbox.container.candidate import Candidate
from sandbox.model.allowance import UNBOUNDED, Allowance
from sandbox.model.client import ClientRecord
from sandbox.model.event import Entry
from sandbox.model.grade import TestReport
from sandbox.model.run import Actor, Mode
from sandbox.model.run_folder import RunFolder
from sandbox.model.user import Understanding
from sandbox.rules.policy.approvers import Approver
from sandbox.run.admission import FREE, Place
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask

if TYPE_CHECKING:
    from sandbox.container.forwarder import Upstream


class Listener(Protocol):
    """Whoever shows a trial's progress."""

    def stage(self, text: str) -> None:
        """Something that takes a moment has begun."""

    def entry(self, entry: Entry) -> None:
        """Something was written to the trace."""


class Silent:
    """Shows nothing of a run while it goes on."""

    def stage(self, text: str) -> None:
        """Say nothing."""

    def entry(self, entry: Entry) -> None:
        """Say nothing."""


Tests = Callable[[], TestReport]
"""Runs the hidden tests of a candidate in a container that the agent never saw."""

Tester = Callable[[LoadedTask, Candidate, Tests, str], TestReport]
"""Gives what the tests say of the candidate of a run, named last; runs them if it has to."""


def tested(task: LoadedTask, candidate: Candidate, tests: Tests, run: str) -> TestReport:
    """Run the hidden tests, as every trial does that is not told otherwise."""
    del task, candidate, run
    return tests()


def at_once(folder: RunFolder) -> None:
    """Begin when the container is ready, as every trial does that is not told otherwise."""
    del folder


@dataclass(frozen=True, slots=True)
class Inside:
    """What an agent in the container has there."""

    files: Path | None = None
    """A folder of this host, at `AGENT_FILES`."""
    upstream: "Upstream | None" = None
    """Its model; without one nothing can be reached."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is run, by whom, in what."""

    task: LoadedTask
    image: BuiltImage
    agent: Callable[[RunFolder], Agent]
    """Makes the agent, which may keep a log in the run's folder."""
    approver: Approver
    understand: Understanding | None = None
    """Picks among the answers of the task's user; None where their words alone do."""
    keep: bool = False
    """Whether the agent's container stays, stopped, when the run is over."""
    tester: Tester = tested
    early: bool = True
    """Whether the fresh session is started while the old one is read, before it is asked for."""
    mode: Mode = "raw"
    """What stands between the agent and the run."""
    label: str = ""
    """How the agent is called in reports, where it is not to be by its own name."""
    actor: Actor | None = None
    experiment: str = ""
    """The name of the one that it belongs to."""
    client: ClientRecord | None = None
    """Where the agent is a client that a preset describes."""
    inside: Inside | None = None
    """Where the agent runs in the container."""
    allowance: Allowance = UNBOUNDED
    """What it may take, where that is less than the task's limits."""
    ready: Callable[[RunFolder], None] = at_once
    """Called when the container is, before the agent's time begins: it may wait."""
    place: Place = FREE
    """Where its works wait for their turn, as one of a batch."""
