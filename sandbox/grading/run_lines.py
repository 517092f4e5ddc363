"""A run in a line: what its record and its grade say, without reading its trace."""

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sandbox.grading.first_reason import first_reason
from sandbox.grading.metrics.run_metrics import Subject, measure
from sandbox.grading.stored_grade import stored_grade
from sandbox.model.errors import DocumentError, StoreError, UsageError
from sandbox.model.grade import RunGrade, Verdict
from sandbox.model.report import RunMetrics
from sandbox.model.run import RunRecord
from sandbox.model.run_folder import RunFolder
from sandbox.tasks import library


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run."""

    record: RunRecord
    measured: RunMetrics
    """Its rates are empty, for these the trace would have to be read."""
    why: str
    """The first reason, in a sentence."""

    @property
    def sizes(self) -> dict[str, float]:
        """Turns, seconds and, where the agent tells them, tokens and cost."""
        end = self.record.end
        if end is None:
            return {}
        found = {"turns": float(end.turns), "seconds": end.seconds}
        if end.usage is not None:
            found["tokens"] = float(end.usage.input_tokens + end.usage.output_tokens)
            if end.usage.cost is not None:
                found["cost"] = end.usage.cost
        return found


def run_lines(folders: Iterable[RunFolder]) -> Iterator[RunLine]:
    """Read runs; one that is damaged is `invalid`, one without a record is left out."""
    for folder in folders:
        try:
            record = folder.record()
        except StoreError:
            continue
        yield _line(record, stored_grade(folder, record))


def _line(record: RunRecord, grade: RunGrade | None) -> RunLine:
    if grade is not None:
        record = record.model_copy(update={"verdict": grade.verdict})
    measured = measure(Subject(record=record, grade=grade, facet=facet(record.task)))
    return RunLine(record, measured, _why(record, grade))


def _why(record: RunRecord, grade: RunGrade | None) -> str:
    if grade is None or record.verdict is Verdict.PASSED:
        return ""
    if record.crashed and record.end is not None:
        return record.end.message
    found = first_reason(grade)
    return found.reason.message if found else grade.problem


@functools.cache
def facet(task: str) -> str | None:
    """Name the facet of a task, or of a variant's task; None where it is not there any more."""
    try:
        return library.load(task.partition("+")[0].partition("@")[0]).task.facet.value
    except (UsageError, DocumentError):
        return None
