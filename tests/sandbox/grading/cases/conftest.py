"""One container in which cases are run, one candidate after the other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.container.engines import connect
from sandbox.container.engines.base import Session, SessionSpec
from sandbox.grading.cases import Ground, run_cases
from sandbox.grading.testers import Testers
from sandbox.model import documents, places
from sandbox.model.case import CaseFile
from sandbox.model.grade import CaseReport
from sandbox.tasks import library
from sandbox.tasks.images import Images
from tests.sandbox.grading.cases.subjects import REFERENCE, WORKTREE, Run


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """A container in which the candidate's folder can be imported from, as a package can."""
    engine = connect()
    image = Images(engine, places.cache()).ensure(library.load("humanize/file-sizes"), print)
    with engine.start(SessionSpec(image.tag)) as session:
        path = "/opt/venv/lib/python3.11/site-packages/subject.pth"
        session.write(path, f"{WORKTREE}\n".encode())
        yield session
    engine.close()


@pytest.fixture
def run(session: Session, tmp_path: Path) -> Run:
    (tmp_path / "reference.py").write_text(REFERENCE)

    def run(text: str, candidate: str = "", seed: str = "seed") -> CaseReport:
        file = documents.parse(text, tmp_path / "cases.yaml", CaseFile)
        session.write(f"{WORKTREE}/subject.py", candidate.encode(), parents=True)
        ground = Ground(session, WORKTREE, Testers(session), 2.0)
        return run_cases(file, tmp_path / "reference.py", seed, ground)

    return run
