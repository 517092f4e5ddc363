"""A stored run, read once: what was asked, what was done, and the verdict."""

from dataclasses import dataclass

from pydantic import JsonValue

from sandbox.agents.tools import Shape, described
from sandbox.grading.stored_grade import stored_grade
from sandbox.model import trace as traces
from sandbox.model.briefing import brief
from sandbox.model.errors import UsageError
from sandbox.model.event import Entry
from sandbox.model.grade import RunGrade
from sandbox.model.run import RunRecord
from sandbox.model.run_folder import RunFolder
from sandbox.model.task import Task
from sandbox.tasks import library


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What a run folder says, read once."""

    record: RunRecord
    task: Task
    entries: tuple[Entry, ...]
    grade: RunGrade | None
    """None where the run was not graded, or its evidence was altered since."""

    @property
    def prompt(self) -> str:
        """What the agent was asked to do."""
        return self.task.prompt

    def tools(self, shape: Shape = "openai") -> list[dict[str, JsonValue]]:
        """Give the actions that the agent had, as interfaces of models take tools."""
        return described(brief(self.task, self.record.id, ""), shape)

    @property
    def model(self) -> str:
        """The model that was asked for by name, as far as that is known; else empty."""
        return self.record.actor.model

    @property
    def reasons(self) -> list[str]:
        """Why it did not pass, a sentence each."""
        grades = self.grade.grades if self.grade else ()
        return [reason.message for grade in grades for reason in grade.reasons]


def read(folder: RunFolder) -> StoredRun:
    """Read a run that has ended.

    UsageError where it goes on, or its task is another one by now, for the prompt is the task's;
    EvidenceError where the trace is not whole, StoreError where a file is missing.
    """
    record = folder.ended_record()
    loaded = library.load(record.task)
    if loaded.digest != record.task_digest:
        raise UsageError(
            f"{record.task} has changed since the run {record.id}: its prompt may be another one.",
            "Take the version of the task that the run was made with.",
        )
    return StoredRun(
        record=record,
        task=loaded.task,
        entries=traces.whole(folder.trace),
        grade=stored_grade(folder, record),
    )
