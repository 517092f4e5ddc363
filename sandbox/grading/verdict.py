"""All graders over one run's evidence."""

from collections.abc import Callable

from graders import collateral, final, integrity, tests, trajectory
from graders.verdict import conjunction
from sandbox.model.grade import Evidence, Grade, RunGrade
from sandbox.model.task import Task

GRADERS: dict[str, Callable[[Task, Evidence], Grade]] = {
    integrity.NAME: integrity.grade,
    tests.NAME: tests.grade,
    collateral.NAME: collateral.grade,
    trajectory.NAME: trajectory.grade,
    final.NAME: final.grade,
}
"""Every grader by its name, in the order in which a report shows them."""


def grade(task: Task, evidence: Evidence) -> RunGrade:
    """Judge a run; the same evidence gives the same grade, byte for byte."""
    grades = tuple(judge(task, evidence) for judge in GRADERS.values())
    return RunGrade(
        run=evidence.run,
        task=evidence.task,
        task_digest=evidence.task_digest,
        verdict=conjunction(grades),
        grades=grades,
    )
