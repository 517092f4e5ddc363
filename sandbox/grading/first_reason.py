"""Which of the reasons against a run came first, and what to call it where runs are counted."""

from dataclasses import dataclass

from sandbox.model.grade import Reason, RunGrade
from sandbox.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class FirstReason:
    """The reason by which a run went wrong first."""

    grader: str
    reason: Reason

    @property
    def cause(self) -> str:
        """Name it so that runs which went wrong in one way are counted together."""
        return f"{self.grader}: {self.reason.rule}" if self.reason.rule else self.grader


def first_reason(grade: RunGrade) -> FirstReason | None:
    """Give the reason of the earliest event, else the first grader's; None where all agree."""
    against = [
        FirstReason(part.grader, reason)
        for part in grade.grades
        if part.verdict is not Verdict.PASSED
        for reason in part.reasons
        if not reason.soft
    ]
    return min(against, key=_moment, default=None)


def _moment(found: FirstReason) -> float:
    return float("inf") if found.reason.event is None else found.reason.event
