"""How reasons make a grade: none is a pass."""

from collections.abc import Iterable

from pydantic import JsonValue

from sandbox.model.grade import Grade, Reason, Verdict


def judged(
    grader: str,
    reasons: Iterable[Reason],
    facts: dict[str, JsonValue] | None = None,
    *,
    otherwise: Verdict = Verdict.FAILED,
) -> Grade:
    """Pass where there is no reason against it."""
    found = tuple(reasons)
    verdict = otherwise if found else Verdict.PASSED
    return Grade(grader=grader, verdict=verdict, reasons=found, facts=facts or {})


def conjunction(grades: Iterable[Grade]) -> Verdict:
    """Invalid if one is, else failed if one is not a pass; of no grades at all nothing passes."""
    verdicts = {grade.verdict for grade in grades}
    if Verdict.INVALID in verdicts:
        return Verdict.INVALID
    return Verdict.PASSED if verdicts == {Verdict.PASSED} else Verdict.FAILED
