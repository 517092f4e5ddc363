"""A run graded from what is stored of it, without an engine."""

from sandbox.container import candidate as candidates
from sandbox.grading.verdict import grade
from sandbox.model import trace as traces
from sandbox.model.change import ChangeSet
from sandbox.model.errors import UsageError
from sandbox.model.event import Final
from sandbox.model.grade import Evidence, RunGrade, TestReport
from sandbox.model.run_folder import RunFolder
from sandbox.tasks.library import LoadedTask


@traces.collection_paused()
def regrade(folder: RunFolder, task: LoadedTask) -> RunGrade:
    """Grade a run from what is stored of it, and store the grade; raises as `evidence_of`.

    A trace whose chain is broken gives the verdict `invalid`.
    """
    result = grade(task.task, evidence_of(folder, task))
    folder.save(folder.grade, result)
    folder.seal_grade(result.verdict)
    return result


def evidence_of(folder: RunFolder, task: LoadedTask) -> Evidence:
    """Read what is stored of a run.

    StoreError where that is not enough, EvidenceError where it is not what the run has stored,
    UsageError where the task is another one by now.
    """
    if folder.record().task_digest != task.digest:
        raise UsageError(
            f"The task {task.task.id} has changed since {folder.id}; its verdict is left as it is.",
            f"`sandbox show {folder.id}` shows it. To judge by the task of today, run it again.",
        )
    stored = traces.read(folder.trace)
    if not stored.problem:
        folder.verify(folder.record())
    finals = [entry.event for entry in stored.entries if isinstance(entry.event, Final)]
    crossed = candidates.unpack(folder.candidate)
    return Evidence(
        run=folder.id,
        task=task.task.id,
        task_digest=task.digest,
        entries=stored.entries,
        chain_problem=stored.problem,
        changes=folder.load(folder.changes, ChangeSet),
        tests=folder.load(folder.tests, TestReport),
        final=finals[-1].fields if finals else None,
        reports={
            path: file.content.decode("utf-8", "replace")
            for path, file in crossed.files.items()
            if path in task.task.reports
        },
        refused=crossed.refused,
    )
