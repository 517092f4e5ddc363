"""What is built before cases are called: that it works, fails and lies where it should."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.container.engines import connect
from sandbox.container.engines.base import Session, SessionSpec
from sandbox.grading.cases import Ground, run_cases
from sandbox.grading.cases.case_builds import build
from sandbox.grading.testers import Testers
from sandbox.model import documents, places
from sandbox.model.case import CaseFile
from sandbox.model.grade import CaseReport
from sandbox.model.session import Command
from sandbox.model.task_tests import Build
from sandbox.tasks import library
from sandbox.tasks.images import Images

pytestmark = pytest.mark.engine

WORKTREE = "/tmp/candidate"
CASES = """
subjects:
  it: {kind: command, argv: ["{program}"]}
cases:
  - id: one
    subject: it
    input: {arguments: [1]}
    expect: {value: {stdout: "theirs 1 another denied\\n"}}
"""
PROGRAM = """#!/bin/sh
. /tmp/candidate/part
(echo > "$0") 2>/dev/null && right=changed || right=denied
[ "$(stat -c %u "$0")" = "$(id -u)" ] && who=same || who=another
echo "$part $1 $who $right"
"""
PLACE = "cp {files}/program {program} && chmod 755 {program}"
COPY = ("/bin/sh", "-c", f"cat part && {PLACE}")


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    engine = connect()
    image = Images(engine, places.cache()).ensure(library.load("humanize/file-sizes"), print)
    with engine.start(SessionSpec(image.tag)) as session:
        yield session
    engine.close()


def report(session: Session, task: Path, argv: tuple[str, ...], seconds: float = 20) -> CaseReport:
    (task / "driver").mkdir()
    (task / "driver" / "program").write_text(PROGRAM)
    session.write(f"{WORKTREE}/part", b"part=theirs\n", parents=True)
    testers = Testers(session)
    declared = Build(files="driver", argv=argv, seconds=seconds)
    built = build(declared, task, session, WORKTREE, testers)
    file = documents.parse(CASES, task / "cases.yaml", CaseFile)
    return run_cases(file, None, "seed", Ground(session, WORKTREE, testers, 1.0), built)


def test_cases_call_what_was_built_and_cannot_change_it(session: Session, tmp_path: Path) -> None:
    found = report(session, tmp_path, COPY)
    assert found.outcomes["one"].outcome == "passed", found


@pytest.mark.parametrize(
    ("argv", "seconds", "problem"),
    [
        (("/bin/sh", "-c", "echo broken >&2; exit 3"), 20, "the build ended with 3: broken"),
        (("/bin/sleep", "60"), 0.5, "the build took more than 0.5 seconds"),
    ],
)
def test_a_failing_build_fails_the_cases_and_is_no_tampering(
    session: Session, tmp_path: Path, argv: tuple[str, ...], seconds: float, problem: str
) -> None:
    found = report(session, tmp_path, argv, seconds)
    assert not found.tampering
    assert found.outcomes["one"].outcome == "failed"
    assert problem in found.outcomes["one"].problem


def test_what_a_build_leaves_running_is_gone(session: Session, tmp_path: Path) -> None:
    report(session, tmp_path, ("/bin/sh", "-c", "sleep 98765 & exit 0"))
    listed = session.run(Command(("/bin/sh", "-c", "pgrep -f 'sleep 9876[5]'; true"), "/", {}))
    assert listed.stdout == b""
