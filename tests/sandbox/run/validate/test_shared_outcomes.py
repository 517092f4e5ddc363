"""Which candidates are the same, and which outcomes are shared."""

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.container.candidate import Candidate, CandidateFile
from sandbox.container.engines.base import Session, SessionSpec
from sandbox.container.engines.fake import FakeEngine
from sandbox.model.grade import CaseReport, TestReport
from sandbox.run.validate import shared_outcomes
from sandbox.run.validate.shared_outcomes import SharedOutcomes, candidate_digest
from sandbox.tasks import library
from sandbox.tasks.library import LoadedTask

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


def shared(
    monkeypatch: pytest.MonkeyPatch, folder: Path, report: TestReport
) -> tuple[list[str], int]:
    """Test one candidate for three runs; whose outcomes each has, and how often tests ran."""
    ran: list[Candidate] = []

    def run_tests(task: LoadedTask, session: Session, candidate: Candidate) -> TestReport:
        ran.append(candidate)
        return report

    monkeypatch.setattr(shared_outcomes, "run_tests", run_tests)
    engine = FakeEngine({})
    (folder / "Dockerfile").write_text("FROM scratch\n")
    image = engine.build(folder, tag="t", labels={}, network="none", on_line=lambda _: None)
    test = SharedOutcomes().tester(image.id)
    task = library.load("humanize/file-sizes")
    nothing = Candidate({}, (), {})
    fresh = partial(engine.start, SessionSpec("t"))
    return [test(task, fresh, nothing, run).shared_with for run in ("1", "2", "3")], len(ran)


def test_the_same_candidate_is_tested_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert shared(monkeypatch, tmp_path, TestReport(outcomes={"a": "failed"})) == (
        ["", "1", "1"],
        1,
    )


@pytest.mark.parametrize(
    "report",
    [
        TestReport(outcomes={}, problem="they took too long"),
        TestReport(outcomes={}, cases=CaseReport(seed="s", outcomes={}, problem="it died")),
    ],
    ids=["tests", "cases"],
)
def test_outcomes_that_cannot_be_relied_on_are_not_shared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, report: TestReport
) -> None:
    assert shared(monkeypatch, tmp_path, report) == (["", "", ""], 3)
