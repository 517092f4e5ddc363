"""What a run came to, for programs: one number, its parts, and the reasons."""

from sandbox.model.base import Record
from sandbox.model.grade import RunGrade
from sandbox.model.how import How
from sandbox.model.run_folder import RunFolder
from sandbox.model.verdict import Verdict


class Outcome(Record):
    """A run that is over."""

    run: str
    """Its name, for `sandbox show` and the others."""
    task: str
    verdict: Verdict
    how: How | None = None
    reward: float | None
    """1 where it passed, else 0; None where the verdict is `error`, which is not counted."""
    rewards: dict[str, float]
    """1 or 0 by grader; `progress`, the share of the milestones that stood at the end, from 0 to 1.
    Empty where nothing was graded."""
    reasons: tuple[str, ...] = ()
    """Why it did not pass, a sentence each; soft ones left out."""
    problem: str = ""
    """What failed, where the verdict is `error`: it says nothing of the agent."""

    @property
    def passed(self) -> bool:
        """Whether every grader says so."""
        return self.verdict is Verdict.PASSED

    @classmethod
    def of_error(cls, run: str, task: str, problem: str, how: How | None = None) -> "Outcome":
        """Say of a run that it could not be carried through."""
        return cls(
            run=run,
            task=task,
            verdict=Verdict.ERROR,
            how=how,
            reward=None,
            rewards={},
            problem=problem,
        )

    @classmethod
    def of(cls, folder: RunFolder) -> "Outcome":
        """Read it from a run's folder; StoreError where the run has no end."""
        record = folder.record()
        grade = folder.load(folder.grade, RunGrade)
        rewards = {part.grader: float(part.verdict is Verdict.PASSED) for part in grade.grades}
        for part in grade.grades:
            progress = part.facts.get("progress_final")
            if isinstance(progress, int | float):
                rewards["progress"] = float(progress)
        return cls(
            run=record.id,
            task=record.task,
            verdict=grade.verdict,
            how=record.end.how if record.end else None,
            reward=None
            if grade.verdict is Verdict.ERROR
            else float(grade.verdict is Verdict.PASSED),
            rewards=rewards,
            reasons=tuple(
                reason.message
                for part in grade.grades
                for reason in part.reasons
                if not reason.soft
            ),
            problem=grade.problem,
        )
