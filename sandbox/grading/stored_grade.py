"""The grade of a stored run, believed only where it and its evidence are what was stored."""

from sandbox.model.errors import StoreError
from sandbox.model.grade import RunGrade
from sandbox.model.run import RunRecord
from sandbox.model.run_folder import RunFolder
from sandbox.model.verdict import Verdict


def stored_grade(folder: RunFolder, record: RunRecord) -> RunGrade | None:
    """Give a run's grade, None where it has none yet.

    It is `invalid`, says why and has no parts where it, its evidence or the record beside it was
    altered or lost.
    """
    if record.verdict is None:
        return None
    if record.verdict is Verdict.ERROR and not folder.grade.exists():
        return _bare(record, Verdict.ERROR, record.problem)
    try:
        grade = folder.load(folder.grade, RunGrade)
    except StoreError as error:
        return _bare(record, Verdict.INVALID, error.message)
    problem = folder.objection(record)
    if not problem and grade.verdict is not record.verdict:
        problem = f"{folder.grade} says {grade.verdict}, and run.json says {record.verdict}."
    return _bare(record, Verdict.INVALID, problem) if problem else grade


def _bare(record: RunRecord, verdict: Verdict, problem: str) -> RunGrade:
    return RunGrade(
        run=record.id,
        task=record.task,
        task_digest=record.task_digest,
        verdict=verdict,
        grades=(),
        problem=problem,
    )
