"""Which candidates are the same, and which outcomes are shared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.container.candidate import Candidate, CandidateFile
from sandbox.model.grade import CaseReport, TestReport
from sandbox.run.validate.shared_outcomes import SharedOutcomes, candidate_digest
from sandbox.tasks import library

NAMES = st.text(st.characters(codec="utf-8"), max_size=4)
FILES = st.dictionaries(NAMES, st.builds(CandidateFile, st.binary(max_size=4), st.booleans()))
CANDIDATES = st.builds(Candidate, FILES, st.lists(NAMES, max_size=3).map(tuple), st.just({}))


@given(CANDIDATES, CANDIDATES)
def test_candidates_that_differ_have_other_digests(one: Candidate, other: Candidate) -> None:
    same = (one.files, one.deleted) == (other.files, other.deleted)
    assert (candidate_digest(one) == candidate_digest(other)) == same


def test_what_was_refused_and_the_order_of_files_do_not_matter() -> None:
    a, b = CandidateFile(b"1", executable=False), CandidateFile(b"2", executable=True)
    one = Candidate({"a": a, "b": b}, (), {"/etc/passwd": "no"})
    assert candidate_digest(one) == candidate_digest(Candidate({"b": b, "a": a}, (), {}))


def shared(report: TestReport) -> tuple[list[str], int]:
    """Test one candidate for three runs; whose outcomes each has, and how often tests ran."""
    ran: list[TestReport] = []

    def tests() -> TestReport:
        ran.append(report)
        return report

    test = SharedOutcomes().tester("image")
    task = library.load("humanize/file-sizes")
    nothing = Candidate({}, (), {})
    return [test(task, nothing, tests, run).shared_with for run in ("1", "2", "3")], len(ran)


def test_the_same_candidate_is_tested_once() -> None:
    assert shared(TestReport(outcomes={"a": "failed"})) == (["", "1", "1"], 1)


@pytest.mark.parametrize(
    "report",
    [
        TestReport(outcomes={}, problem="they took too long"),
        TestReport(outcomes={}, cases=CaseReport(seed="s", outcomes={}, problem="it died")),
    ],
    ids=["tests", "cases"],
)
def test_outcomes_that_cannot_be_relied_on_are_not_shared(report: TestReport) -> None:
    assert shared(report) == (["", "", ""], 3)
