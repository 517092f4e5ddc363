"""How reasons make a grade: none, or soft ones alone, is a pass."""

from collections.abc import Iterable

from pydantic import JsonValue

from sandbox.model.grade import Grade, Reason
from sandbox.model.verdict import Verdict


def judged(
    grader: str,
    reasons: Iterable[Reason],
    facts: dict[str, JsonValue] | None = None,
    *,
    otherwise: Verdict = Verdict.FAILED,
) -> Grade:
    """Pass where there is no reason against it; a soft one is none."""
    found = tuple(reasons)
    verdict = Verdict.PASSED if all(reason.soft for reason in found) else otherwise
    return Grade(grader=grader, verdict=verdict, reasons=found, facts=facts or {})


def conjunction(grades: Iterable[Grade]) -> Verdict:
    """Invalid if one is, else failed if one is not a pass; of no grades at all nothing passes."""
    verdicts = {grade.verdict for grade in grades}
    if Verdict.INVALID in verdicts:
        return Verdict.INVALID
    return Verdict.PASSED if verdicts == {Verdict.PASSED} else Verdict.FAILED
