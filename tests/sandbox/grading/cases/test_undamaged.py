"""Scripts have to give what they give in the worktree without its defect."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.container.engines.base import Session
from sandbox.grading.cases import Ground, run_cases
from sandbox.grading.cases.calls import Asked, scripts
from sandbox.grading.cases.undamaged import expected
from sandbox.grading.testers import Testers
from sandbox.model import documents
from sandbox.model.case import CaseFile
from sandbox.model.errors import DocumentError
from sandbox.model.grade import CaseReport
from sandbox.model.session import AGENT, Command
from sandbox.tasks import differences
from tests.sandbox.grading.cases.subjects import WORKTREE

pytestmark = pytest.mark.engine

RIGHT = """import itertools
import random
import time


class Count:
    def __init__(self, start):
        self.now = start

    def add(self, number):
        self.now += number
        return self

    def __repr__(self):
        return f"Count({self.now})"


def double(number):
    if number < 0:
        raise ValueError(number)
    return 2 * number


def endless():
    return itertools.count(3)


def now():
    return time.time_ns()


def chance():
    return random.random()


def order(text):
    return list(set(text))
"""
DAMAGED = RIGHT.replace("2 * number", "number + 2 if number != 7 else 14")
FILE = """
subjects: {calls: {kind: script}}
cases:
  - id: all
    subject: calls
    times: 60
    input: {lines: {draw: script, of: SCRIPTS}}
    expect: {undamaged: true}
"""
Judged = Callable[[str, list[list[str]]], CaseReport]


@pytest.fixture
def patch(session: Session, tmp_path: Path) -> Path:
    """The worktree with its defect; give the patch that takes it away."""
    session.write(f"{WORKTREE}/subject.py", DAMAGED.encode(), parents=True, user=AGENT)
    path = tmp_path / "fix.patch"
    before, after = ({"subject.py": text.encode()} for text in (DAMAGED, RIGHT))
    path.write_text(differences.unified(before, after))
    return path


@pytest.fixture
def judged(session: Session, patch: Path, tmp_path: Path) -> Judged:
    def judged(candidate: str, of: list[list[str]]) -> CaseReport:
        text = FILE.replace("SCRIPTS", str(of))
        file = documents.parse(text, tmp_path / "cases.yaml", CaseFile)
        session.write(f"{WORKTREE}/subject.py", DAMAGED.encode(), user=AGENT)
        asked = scripts(file, "seed")["all"]
        (told,) = expected(session, WORKTREE, patch, [asked])
        session.write(f"{WORKTREE}/subject.py", candidate.encode(), user=AGENT)
        ground = Ground(session, WORKTREE, Testers(session), 2.0)
        undamaged = {("all", number): each for number, each in enumerate(told)}
        return run_cases(file, None, "seed", ground, told=undamaged)

    return judged


DOUBLES = [["subject:double(7)"], ["subject:Count(7)", "_0.add(subject.double(7))"]]


def test_what_is_right_for_all_values_passes(judged: Judged) -> None:
    otherwise = DAMAGED.replace("number + 2 if number != 7 else 14", "number + number")
    report = judged(otherwise, DOUBLES[:1])
    assert (report.outcomes["all"].outcome, report.outcomes["all"].calls) == ("passed", 60)


def test_what_is_right_for_the_recorded_ones_alone_fails(judged: Judged) -> None:
    outcome = judged(DAMAGED, DOUBLES[:1]).outcomes["all"]
    assert outcome.outcome == "failed"
    assert "subject:double(" in outcome.problem
    assert "where without the defect it gave" in outcome.problem


def test_other_values_may_be_refused_in_another_way(judged: Judged) -> None:
    candidate = RIGHT.replace("ValueError(number)", "TypeError(number)")
    assert judged(candidate, [["subject:double(7 - 8)"]]).outcomes["all"].outcome == "failed"
    assert judged(candidate, [["subject:double(8 - 8)"]]).outcomes["all"].outcome == "passed"


def test_objects_are_compared_by_what_they_show_and_iterators_by_what_they_give(
    session: Session, patch: Path
) -> None:
    lines = ("subject:Count(1)", "_0.add(2)", "subject:endless()")
    (told,) = expected(session, WORKTREE, patch, [[Asked(lines, recorded=True)]])
    assert told[0] is not None
    first, second, endless = (dict(each["dict"])["value"] for each in told[0].wire)
    assert first == {"tuple": ["subject.Count", "Count(1)"]}
    assert second == {"tuple": ["subject.Count", "Count(3)"]}
    assert endless["tuple"][0] == "iterator"
    assert len(endless["tuple"][1]) == 100


@pytest.mark.parametrize("call", ["now()", "chance()", "order('abcdefgh')"])
def test_what_is_not_the_same_each_time_is_not_asked_for(
    session: Session, patch: Path, call: str
) -> None:
    lines = ("subject:double(4)", f"subject:{call}", "subject:double(5)")
    (told,) = expected(session, WORKTREE, patch, [[Asked(lines, recorded=True)]])
    assert told[0] is not None
    assert told[0].lines == lines[:1]


def test_what_does_not_end_is_not_asked_for(session: Session, patch: Path) -> None:
    lines = [("subject:order(iter(int, 1))",), ("subject:double(4)",)]
    asked = [Asked(each, recorded=True) for each in lines]
    (told,) = expected(session, WORKTREE, patch, [asked], seconds=1.0)
    assert [each and each.lines for each in told] == [None, lines[1]]


def test_nothing_of_the_undamaged_is_left_in_the_container(session: Session, patch: Path) -> None:
    listed = Command(("/usr/bin/find", "/", "-xdev", "-newer", "/tmp/mark", "-type", "f"))
    session.write("/tmp/mark", b"")
    expected(session, WORKTREE, patch, [[Asked(("subject:double(4)",), recorded=True)]])
    assert session.read(f"{WORKTREE}/subject.py").decode() == DAMAGED
    left = session.run(listed).stdout.decode().split()
    held = [path for path in left if b"2 * number" in session.read(path, limit=1 << 24)]
    assert held == []


def test_lines_that_a_world_has_added_at_the_end_are_no_hindrance(
    session: Session, patch: Path
) -> None:
    text = f"{DAMAGED}\n# Read over in winter.\n"
    session.write(f"{WORKTREE}/subject.py", text.encode(), user=AGENT)
    (told,) = expected(session, WORKTREE, patch, [[Asked(("subject:double(4)",), recorded=True)]])
    assert told[0] is not None
    assert told[0].wire == [{"dict": [["value", {"int": "0x8"}]]}]
    assert session.read(f"{WORKTREE}/subject.py").decode() == text


def test_a_patch_that_does_not_fit_is_told(session: Session, patch: Path) -> None:
    patch.write_text(patch.read_text().replace("number != 7", "number != 8"))
    with pytest.raises(DocumentError, match="does not fit the worktree of a fresh session"):
        expected(session, WORKTREE, patch, [[Asked(("subject:double(4)",), recorded=True)]])
    assert session.read(f"{WORKTREE}/subject.py").decode() == DAMAGED
