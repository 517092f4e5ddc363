"""Cases against candidates that are right, wrong, broken and hostile, in one real container."""

import secrets
from pathlib import Path

import pytest

from sandbox.container.engines.base import Session
from sandbox.grading.cases import Ground, run_at_a_shell, run_cases
from sandbox.grading.testers import PARENTS, Testers
from sandbox.model import documents
from sandbox.model.case import CaseFile
from sandbox.model.errors import DocumentError
from tests.sandbox.grading.cases.subjects import DOUBLE, REFERENCE, WORKTREE, Run

pytestmark = pytest.mark.engine


def function(expect: str, *, arguments: str = "[]", more: str = "", name: str = "call") -> str:
    return f"""
subjects:
  it: {{kind: function, name: "subject:{name}"}}
cases:
  - id: one
    subject: it
    input: {{arguments: {arguments}}}
    expect: {expect}
    {more}
"""


DRAWN = function(
    "{reference: double}",
    arguments="[{draw: integer, minimum: 4, maximum: 1000000000}]",
    more="times: 25",
)


def test_a_right_function_passes_and_the_seed_is_told(run: Run) -> None:
    report = run(DRAWN, DOUBLE)
    assert (report.seed, report.problem, report.tampering) == ("seed", "", False)
    assert (report.outcomes["one"].outcome, report.outcomes["one"].calls) == ("passed", 25)


def test_the_same_seed_asks_the_same_and_another_asks_something_else(run: Run) -> None:
    told = [run(DRAWN, "def call(x):\n    pass\n", seed).outcomes["one"] for seed in "aab"]
    assert told[0] == told[1] != told[2]


TRY = """
import os
write = os.write
def attempt(number, data):
    try:
        write(number, data)
    except OSError:
        pass
os.write = attempt
"""
"""Writing to a descriptor that is not open must not be what fails."""

WRONG = {
    "value": ("return 2 * value + 1", "gave "),
    "type": ("return 2.0 * value", "gave "),
    "subclass": ("return type('int', (int,), {})(2 * value)", "gave "),
    "always-equal": (
        "return type('Any', (), {'__eq__': lambda *_: True, '__hash__': lambda _: 0})()",
        "gave ",
    ),
    "raises": ("raise OSError('full')", "raised OSError: full"),
    "exits": ("raise SystemExit", "raised SystemExit"),
    "dies": ("import os; os._exit(3)", "it ended with status 3"),
    "signal": ("import os; os.kill(os.getpid(), 9)", "it was ended by signal 9"),
    "loops": ("while True: pass", "it took too long"),
    "prints": ("import os; [os.write(n, b'{}\\n') for n in (3, 4, 5)]", "what was not asked"),
    "garbage": ("import os; [os.write(n, b'!\\n') for n in (3, 4, 5)]", "not a valid answer"),
    "floods": (
        "import os\n    while True: [os.write(n, b'x' * 65536) for n in (3, 4, 5)]",
        "its answer has more than",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_fails_and_says_how(run: Run, name: str) -> None:
    body, said = WRONG[name]
    text = DRAWN.replace("times: 25", "times: 25\n    seconds: 1")
    report = run(text, f"{TRY}def call(value):\n    {body}\n")
    outcome = report.outcomes["one"]
    assert outcome.outcome == "failed"
    assert said in outcome.problem
    assert not report.tampering


def test_a_candidate_that_cannot_be_imported_fails(run: Run) -> None:
    assert "raised SyntaxError" in run(DRAWN, "def call(:\n").outcomes["one"].problem


TWICE = """
import io, gc, json, sys

def call(value):
    frame = sys._getframe(1)
    answer = json.dumps({"id": frame.f_locals["call"]["id"], "value": 1}) + "\\n"
    for stream in gc.get_objects():
        if isinstance(stream, io.TextIOWrapper) and stream.writable() and stream.fileno() > 2:
            stream.write(answer * 2)
            stream.flush()
    return 2 * value
"""


def test_a_call_that_is_answered_twice_is_tampering(run: Run) -> None:
    report = run(DRAWN, TWICE)
    assert report.tampering
    assert "answered twice" in report.problem
    assert report.outcomes == {}


def test_one_case_cannot_break_another(run: Run) -> None:
    text = (
        DRAWN
        + """
  - id: two
    subject: it
    input: {arguments: [1]}
    expect: {value: 2}
"""
    )
    first = f"os.open('/tmp/{secrets.token_hex(8)}', os.O_CREAT | os.O_EXCL)"
    kill = f"import os\ntry:\n    {first}\nexcept OSError:\n    pass\n"
    kill += "else:\n    os.kill(-1, 9); os._exit(0)\n"
    report = run(text, kill + DOUBLE)
    assert sorted(each.outcome for each in report.outcomes.values()) == ["failed", "passed"]


FIVE_MORE = "".join(
    f"  - {{id: more-{number}, subject: it, input: {{arguments: [1]}}, expect: {{value: 1}}}}\n"
    for number in range(5)
)
"""Cases beside one that is there."""


@pytest.mark.parametrize(
    "candidate",
    [
        "import os\nos.mkdir(os.path.expanduser('~/work'))\ndef call(value): return value\n",
        "made = []\ndef call(value):\n    made.append(value)\n    return len(made)\n",
    ],
    ids=["folder", "memory"],
)
def test_what_a_case_makes_is_its_own(run: Run, candidate: str) -> None:
    report = run(function("{value: 1}", arguments="[1]") + FIVE_MORE, candidate)
    assert {each.outcome for each in report.outcomes.values()} == {"passed"}, report.outcomes
    assert len(report.outcomes) == 6


ANSWERS_FOR_ALL = """
import json, sys

def call(value):
    frame = sys._getframe(1)
    while "answers" not in frame.f_locals:
        frame = frame.f_back
    calls, answers = frame.f_locals["calls"], frame.f_locals["answers"]
    asked, wire = frame.f_locals["call"], frame.f_globals["wire"]
    while True:
        given = asked.get("arguments")
        told = wire.encode(2 * wire.decode(given[0])) if given else None
        answers.write(json.dumps({"id": asked["id"], "value": told}) + "\\n")
        answers.flush()
        asked = json.loads(calls.readline())
"""


def test_one_module_cannot_answer_for_another(run: Run, session: Session) -> None:
    session.write(f"{WORKTREE}/other.py", b"def call(value): return 0\n", parents=True)
    text = DRAWN.replace("cases:", '  other: {kind: function, name: "other:call"}\ncases:')
    case = "{draw: integer, minimum: 4, maximum: 1000000000}"
    for number in range(4):
        text += f"""
  - id: other-{number}
    subject: other
    input: {{arguments: [{case}]}}
    expect: {{reference: double}}
"""
    outcomes = run(text, ANSWERS_FOR_ALL).outcomes
    passed = {name for name, each in outcomes.items() if each.outcome == "passed"}
    assert passed == {"one"}, outcomes
    assert "gave 0" in outcomes["other-0"].problem


@pytest.mark.parametrize(
    ("expect", "outcome"),
    [
        ("{raises: {type: ValueError}}", "passed"),
        ("{raises: {type: ValueError, message: 'neg.tive$'}}", "passed"),
        ("{raises: {type: ValueError, message: 'positive'}}", "failed"),
        ("{raises: {type: TypeError}}", "failed"),
        ("{value: null}", "failed"),
        ("{reference: double}", "passed"),
    ],
)
def test_an_error_can_be_what_is_expected(run: Run, expect: str, outcome: str) -> None:
    text = function(expect, arguments="[-1]")
    raising = "def call(value):\n    raise ValueError('negative')\n"
    assert run(text, raising).outcomes["one"].outcome == outcome


def test_what_a_reference_leaves_open_is_not_asked(run: Run) -> None:
    text = DRAWN.replace("minimum: 4, maximum: 1000000000", "minimum: 3, maximum: 4")
    assert run(text, DOUBLE).outcomes["one"].calls < 25
    with pytest.raises(DocumentError, match="leaves every call of the case one open"):
        run(function("{reference: double}", arguments="[3]"), DOUBLE)


@pytest.mark.parametrize("name", ["missing", "__import__('x')"])
def test_a_reference_that_is_none_is_the_tasks_mistake(run: Run, name: str) -> None:
    with pytest.raises(DocumentError, match="cannot be called"):
        run(function(f'{{reference: "{name}"}}', arguments="[1]"), DOUBLE)


def test_nothing_of_the_grader_stays_in_the_container(run: Run, session: Session) -> None:
    tops = {folder: set(session.list(folder)) for folder in PARENTS}
    run(DRAWN, DOUBLE)
    assert {folder: set(session.list(folder)) for folder in PARENTS} == tops


MARKS = """
import os, sys
def call(*_):
    with open("/proc/self/cmdline", "rb") as file:
        words = file.read().split(bytes(1))
    return [[os.path.basename(word.decode()) for word in words if word], sys.argv]
"""


def test_no_word_of_its_process_tells_a_function_who_calls_it(run: Run) -> None:
    report = run(function("{value: [[python, '-'], ['-']]}"), MARKS)
    assert report.outcomes["one"].outcome == "passed", report


WHO = "import os\ndef call(*_):\n    return [os.getuid() in (0, 10001), os.environ['HOME']]\n"


def test_users_and_their_folders_are_drawn(run: Run) -> None:
    seen = {run(function("{value: 0}"), WHO).outcomes["one"].problem for _ in range(3)}
    assert len(seen) == 3
    assert all("[False, " in problem for problem in seen), seen


TWO_FACED = """
import os
def call(value):
    return 2 * value if {right} else value
"""


@pytest.mark.parametrize(
    "right",
    [
        "os.getuid() != 10001",
        "os.environ['HOME'] != '/home/agent'",
        "os.environ.get('USER') != 'agent'",
        "'PYTHONSAFEPATH' in os.environ",
    ],
)
def test_who_is_right_for_the_grader_alone_is_found_out_at_a_shell(
    session: Session, tmp_path: Path, right: str
) -> None:
    (tmp_path / "reference.py").write_text(REFERENCE)
    file = documents.parse(DRAWN, tmp_path / "cases.yaml", CaseFile)
    candidate = TWO_FACED.format(right=right)
    session.write(f"{WORKTREE}/subject.py", candidate.encode(), parents=True)
    ground = Ground(session, WORKTREE, Testers(session), 2.0)
    report = run_cases(file, tmp_path / "reference.py", "seed", ground)
    assert {each.outcome for each in report.outcomes.values()} == {"passed"}
    found = run_at_a_shell(file, tmp_path / "reference.py", report, ground)
    assert {each.outcome for each in found.outcomes.values()} == {"failed"}
    assert all(each.problem.startswith("called at a shell") for each in found.outcomes.values())


def test_who_is_right_for_everybody_passes_at_a_shell(session: Session, tmp_path: Path) -> None:
    (tmp_path / "reference.py").write_text(REFERENCE)
    file = documents.parse(DRAWN, tmp_path / "cases.yaml", CaseFile)
    session.write(f"{WORKTREE}/subject.py", DOUBLE.encode(), parents=True)
    ground = Ground(session, WORKTREE, Testers(session), 2.0)
    report = run_cases(file, tmp_path / "reference.py", "seed", ground)
    found = run_at_a_shell(file, tmp_path / "reference.py", report, ground)
    assert {each.outcome for each in found.outcomes.values()} == {"passed"}
    calls = [sum(each.calls for each in one.outcomes.values()) for one in (report, found)]
    assert calls[1] > calls[0]


TABLE = """
subjects:
  it: {kind: function, name: "subject:call"}
cases:
  - id: each
    subject: it
    times: 12
    input: {arguments: [{draw: choice, of: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}]}
    expect: {reference: right}
"""


@pytest.mark.slow
def test_a_single_wrong_answer_in_a_table_is_found_out_at_a_shell(
    session: Session, tmp_path: Path
) -> None:
    (tmp_path / "reference.py").write_text("def right(value):\n    return 2 * value\n")
    file = documents.parse(TABLE, tmp_path / "cases.yaml", CaseFile)
    candidate = TWO_FACED.format(right="value != 7 or os.getuid() != 10001")
    session.write(f"{WORKTREE}/subject.py", candidate.encode(), parents=True)
    ground = Ground(session, WORKTREE, Testers(session), 2.0)
    for seed in map(str, range(5)):
        report = run_cases(file, tmp_path / "reference.py", seed, ground)
        assert report.outcomes["each"].outcome == "passed"
        found = run_at_a_shell(file, tmp_path / "reference.py", report, ground)
        assert found.outcomes["each"].outcome == "failed"
