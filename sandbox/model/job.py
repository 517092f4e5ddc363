"""What a batch consists of: jobs that can be stored, handed to another machine, and done later."""

from sandbox.model.base import Record
from sandbox.model.run import Mode
from sandbox.model.verdict import Verdict


class Who(Record):
    """Who acts in a run, and how."""

    agent: str
    """Its label."""
    mode: Mode = "raw"
    version: str = ""
    """What tells the agent from another of its label, where that is known."""


class Job(Who):
    """One run that is to be done."""

    task: str
    task_digest: str
    trial: int
    """From 1, within a task."""


class JobResult(Record):
    """What came of a job."""

    job: Job
    run: str | None
    """The run's id; None where it was never begun."""
    verdict: Verdict | None
    """None where it was never begun."""
    problem: str = ""
    """What failed, where the verdict is `error`."""
    interrupted: bool = False
    lasting: bool = False
    """Whether trying again cannot help: what failed is the command's own mistake."""
    crashed: bool = False
    """Whether its agent broke off without an answer, and what it left is not right."""
