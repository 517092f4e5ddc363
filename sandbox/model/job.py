"""What a batch consists of: jobs that can be stored, handed to another machine, and done later."""

from sandbox.model.base import Record
from sandbox.model.grade import Verdict


class Job(Record):
    """One run that is to be done."""

    task: str
    task_digest: str
    agent: str
    """As the command line names it."""
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
    crashed: bool = False
    """Whether its agent broke off without an answer, and what it left is not right."""
