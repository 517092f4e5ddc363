import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders.verdict import conjunction
from sandbox.grading.verdict import GRADERS, grade
from sandbox.model.grade import Evidence, Grade, Reason
from sandbox.model.verdict import Verdict
from tests.graders.evidence import changes, evidence, outcomes, task, trace


def test_a_run_that_every_grader_passes_is_passed() -> None:
    judged = grade(task(), evidence())
    assert judged.verdict is Verdict.PASSED
    assert [each.grader for each in judged.grades] == list(GRADERS)


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        ({"tests": outcomes(outcomes={})}, Verdict.FAILED),
        ({"changes": changes().model_copy(update={"changes": ()})}, Verdict.FAILED),
        ({"chain_problem": "broken"}, Verdict.INVALID),
        ({"tests": outcomes(problem="the canary passed", tampering=True)}, Verdict.INVALID),
        ({"entries": trace()[:-1]}, Verdict.INVALID),
        ({"changes": None, "tests": None, "entries": ()}, Verdict.INVALID),
    ],
)
def test_one_grader_is_enough_against_it(damage: dict[str, object], expected: Verdict) -> None:
    judged = grade(task(), evidence().model_copy(update=damage))
    assert judged.verdict is expected
    assert any(each.reasons for each in judged.grades)


def test_stored_evidence_gives_the_same_grade_byte_for_byte() -> None:
    whole = evidence(tests=outcomes(outcomes={}))
    stored = Evidence.model_validate_json(whole.model_dump_json())
    assert grade(task(), stored).model_dump_json() == grade(task(), whole).model_dump_json()


GRADES = st.sampled_from([Verdict.PASSED, Verdict.FAILED, Verdict.INVALID, Verdict.ERROR]).map(
    lambda verdict: Grade(grader="g", verdict=verdict, reasons=(Reason(message="m"),))
)


@given(st.lists(GRADES), GRADES)
def test_a_further_grade_never_makes_a_verdict_better(grades: list[Grade], more: Grade) -> None:
    order = [Verdict.PASSED, Verdict.FAILED, Verdict.INVALID]
    before = conjunction(grades) if grades else Verdict.PASSED
    after = conjunction([*grades, more])
    assert order.index(after) >= order.index(before)
    assert (after is Verdict.PASSED) is all(
        each.verdict is Verdict.PASSED for each in (*grades, more)
    )


def test_no_grades_are_no_pass() -> None:
    assert conjunction([]) is Verdict.FAILED
