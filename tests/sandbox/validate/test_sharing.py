"""Which candidates are the same, and which outcomes are shared."""

import tarfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sandbox import tasks
from sandbox.candidate import Candidate, CandidateFile
from sandbox.engines.base import Session, SessionSpec
from sandbox.engines.fake import Answer, FakeEngine
from sandbox.validate.sharing import SharedOutcomes, candidate_digest

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


def test_outcomes_that_cannot_be_relied_on_are_not_shared(tmp_path: Path) -> None:
    archive = tmp_path / "root.tar"
    with tarfile.open(archive, "w") as tar:
        for name in ("home", "home/agent", "home/agent/humanize", "tmp"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, 0o777, 10001, 10001
            tar.addfile(entry)
    engine = FakeEngine({("**",): Answer(exit_code=1)})
    image = engine.import_image(archive, tag="t", labels={})
    asked: list[Session] = []

    def fresh() -> Session:
        asked.append(engine.start(SessionSpec("t")))
        return asked[-1]

    test = SharedOutcomes().tester(image.id)
    task = tasks.load("humanize/file-sizes")
    for run in ("one", "two"):
        report = test(task, fresh, Candidate({}, (), {}), run)
        assert report.problem
        assert report.shared_with == ""
    assert len(asked) == 2
