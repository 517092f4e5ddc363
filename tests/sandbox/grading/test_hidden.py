import random
from dataclasses import replace
from typing import Any

import pytest

from sandbox.container.candidate import Candidate
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.grading.grading_session import GradingSession
from sandbox.grading.hidden import run_tests
from sandbox.grading.proof import base_report, gold_report
from sandbox.grading.testers import NUMBERS
from sandbox.model.errors import DocumentError
from sandbox.tasks import library
from sandbox.tasks.library import LoadedTask
from tests.sandbox.grading.probe import ANSWER, FILE, RIGHT, WRONG, Run

pytestmark = pytest.mark.engine


@pytest.mark.slow
def test_outcomes_are_those_of_the_tests_by_exact_id(run: Run) -> None:
    report = run(RIGHT)
    assert report.outcomes == {
        ANSWER: "passed",
        f"{FILE}::test_skipped": "skipped",
        f"{FILE}::test_named[a b]": "passed",
        f"{FILE}::test_named[\\xe9/[]]": "passed",
    }
    assert (report.problem, report.tampering) == ("", False)


@pytest.mark.slow
def test_a_wrong_answer_fails(run: Run) -> None:
    report = run(WRONG)
    assert report.outcomes[ANSWER] == "failed"
    assert "41 == 42" in report.log


@pytest.mark.slow
def test_a_candidate_that_cannot_be_imported_has_no_outcomes_and_forged_none(run: Run) -> None:
    report = run("def answer(:\n")
    assert report.outcomes == {}
    assert report.problem == f"{FILE}: not all tests were run"
    assert not report.tampering
    assert "SyntaxError" in report.log


def test_the_candidates_own_tests_are_not_run(run: Run) -> None:
    report = run(WRONG, **{FILE: "def test_answer():\n    pass\n"})
    assert report.outcomes[ANSWER] == "failed"


REWRITE_REPORTS = """
import _pytest.runner, _pytest.reports
made = _pytest.reports.TestReport.from_item_and_call.__func__
def passing(cls, item, call):
    report = made(cls, item, call)
    report.outcome, report.longrepr = "passed", None
    return report
_pytest.reports.TestReport.from_item_and_call = classmethod(passing)
"""

STEAL = """
import gc, io, json, os
OUTCOMES = %s
for stream in gc.get_objects():
    if isinstance(stream, io.TextIOWrapper) and stream.writable() and stream.fileno() > 2:
        for test, outcome in OUTCOMES.items():
            stream.write(json.dumps({"test": test, "outcome": outcome}) + "\\n")
        stream.flush()
"""
"""Writes to the runner's own channel."""

WRITE_ONE = STEAL % f"{{{ANSWER!r}: 'passed'}}"
DENY_BY_STATUS = """
import os
os._exit = (lambda ended: lambda status: ended(16))(os._exit)
"""
END_AFTER = """
stream.write('{"end": 1}\\n')
stream.flush()
os._exit(16)
"""


@pytest.mark.parametrize("attack", [REWRITE_REPORTS, WRITE_ONE, DENY_BY_STATUS])
def test_forged_outcomes_are_tampering(run: Run, attack: str) -> None:
    report = run(attack + WRONG)
    assert report.tampering
    assert report.problem
    assert report.outcomes == {}


KNOWN = f"""
import _pytest.reports
made = _pytest.reports.TestReport.from_item_and_call.__func__
def forged(cls, item, call):
    report = made(cls, item, call)
    if item.nodeid == {ANSWER!r}:
        report.outcome, report.longrepr = "passed", None
    return report
_pytest.reports.TestReport.from_item_and_call = classmethod(forged)
"""


def test_who_forges_nothing_but_a_known_test_is_caught_by_the_decoy(run: Run) -> None:
    report = run(KNOWN + WRONG)
    assert report.tampering
    assert "made to fail" in report.problem


EXIT = "import os\nos._exit(0)\n"
SKIP = "import pytest\npytest.skip('nothing to see', allow_module_level=True)\n"
STOP = "import pytest\npytest.exit('done', returncode=0)\n"
EDIT = """
from pathlib import Path
for path in Path("/home/agent/humanize/tests").glob("test_*.py"):
    try:
        path.write_text("def test_answer():\\n    pass\\n")
    except OSError:
        pass
try:
    Path("/home/agent/humanize/tests").rename("/home/agent/humanize/moved")
except OSError:
    pass
"""
REST = WRITE_ONE + END_AFTER


@pytest.mark.slow
@pytest.mark.parametrize("attack", [EXIT, SKIP, STOP, EDIT, REST])
def test_nothing_else_passes_either(run: Run, attack: str) -> None:
    report = run(attack + WRONG)
    assert report.outcomes.get(ANSWER) != "passed"


class AgainstTheFirst(random.Random):
    """Draws the decoy for the first file by name that may have one, and runs it last."""

    def sample(self, population: Any, k: int, **counts: Any) -> list[Any]:  # noqa: ANN401
        if isinstance(population, list):
            return sorted(population)
        return super().sample(population, k, **counts)

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        return min(1, super().randrange(start, stop, step) + 1)


def test_tests_that_another_file_inherits_are_not_made_to_fail(
    run: Run, task: LoadedTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A right answer failed where the decoy was of the file that is inherited from."""
    folder = task.folder / "hidden/src/humanize/checks"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "test_base.py").write_text(
        "import humanize.probe\n\nclass TestBase:\n"
        "    def test_answer(self):\n        assert humanize.probe.answer() == 42\n"
    )
    (folder / "test_more.py").write_text(
        "from .test_base import TestBase\n\nclass TestMore(TestBase):\n    pass\n"
    )
    monkeypatch.setattr(random, "SystemRandom", AgainstTheFirst)
    report = run(RIGHT, cpus=1.0)
    assert not report.tampering, report.problem
    assert report.outcomes["src/humanize/checks/test_more.py::TestMore::test_answer"] == "passed"
    assert set(report.outcomes.values()) <= {"passed", "skipped"}


@pytest.mark.slow
def test_time_is_limited(run: Run) -> None:
    report = run("while True:\n    pass\n", timeout=1.0)
    assert "took too long" in report.problem
    assert not report.tampering


WHO = """
import os, tempfile, time

import humanize.probe


def test_answer():
    time.sleep(2)
    tempfile.mkstemp()
    assert not os.access(__file__, os.W_OK)
    assert not os.access(".", os.W_OK)
    assert os.getuid() == humanize.probe.answer()
"""


@pytest.mark.slow
def test_files_that_run_at_once_have_a_user_and_a_folder_each(run: Run, task: LoadedTask) -> None:
    for name in ("test_b.py", "test_c.py", "test_d.py"):
        (task.folder / "hidden/tests" / name).write_text(WHO)
    log = run("def answer():\n    return 'me'\n").log
    told = {line.partition("assert ")[2] for line in log.splitlines() if "== 'me'" in line}
    assert len(told) == 2, "one that runs long is not waited for"
    assert all(int(user.split()[0]) in NUMBERS for user in told)
    assert log.count("== 'me'") >= 3


KILL = """
import os, signal, time

def test_kill():
    for _ in range(20):
        os.kill(-1, signal.SIGKILL)
        time.sleep(0.02)
"""


@pytest.mark.slow
def test_a_file_can_break_off_no_other(run: Run, task: LoadedTask) -> None:
    for name in ("test_a.py", "test_z.py"):
        (task.folder / "hidden/tests" / name).write_text(KILL)
    report = run(RIGHT)
    assert report.outcomes == {**report.outcomes, ANSWER: "passed"}
    assert "test_a.py: the runner gave no answer: it was ended by signal 9" in report.problem
    assert not report.tampering


SPAWNING = """
import concurrent.futures, inspect, multiprocessing, os, sys

def answer():
    assert os.path.exists(sys.modules["__main__"].__file__)
    assert os.path.exists(sys.argv[0])
    for way in ("spawn", "forkserver", "fork"):
        context = multiprocessing.get_context(way)
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
            assert pool.submit(abs, -42).result(timeout=10) == 42
    return 42
"""


@pytest.mark.slow
def test_tests_may_start_processes_in_each_way_that_python_has(run: Run) -> None:
    report = run(SPAWNING)
    assert (report.problem, report.outcomes[ANSWER]) == ("", "passed"), report.log


LEAVE = """
import subprocess
subprocess.Popen(["sleep", "1000"], start_new_session=True)
"""
LOOK = """
from pathlib import Path

def test_nothing_is_left():
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    assert not [line for line in lines if b"sleep" in line]
"""


def test_what_a_file_leaves_running_is_killed_before_the_next(run: Run, task: LoadedTask) -> None:
    (task.folder / "hidden/tests/test_z.py").write_text(LOOK)
    report = run(LEAVE + RIGHT, cpus=1.0)
    assert report.outcomes[ANSWER] == "passed"
    assert report.outcomes["tests/test_z.py::test_nothing_is_left"] == "passed"


def test_what_does_not_fit_the_repository_is_a_problem(run: Run) -> None:
    assert "does not fit" in run(RIGHT, src="a file\n").problem


def test_what_is_in_the_way_of_a_hidden_test_is_a_problem(run: Run, task: LoadedTask) -> None:
    (task.folder / "hidden/tests/test_z.py").write_text(WHO)
    report = run(RIGHT, **{"tests/test_z.py/folder.py": ""})
    assert "in the way of the hidden tests" in report.problem


def test_hidden_files_are_plain(run: Run, task: LoadedTask) -> None:
    (task.folder / "hidden/link.py").symlink_to("/etc/passwd")
    with pytest.raises(DocumentError, match="plain"):
        run(RIGHT)


@pytest.mark.slow
def test_the_base_of_a_real_task_is_as_it_records(engine: Engine, image: str) -> None:
    real = library.load("humanize/file-sizes")
    with engine.start(SessionSpec(image)) as session:
        assert base_report(real, session).problems == ()
    with engine.start(SessionSpec(image)) as session:
        (problem, *_) = gold_report(real, session, Candidate({}, (), {})).problems
    assert problem.startswith(real.task.tests.fail_to_pass[0])


@pytest.mark.slow
def test_a_task_may_have_cases_alone(engine: Engine, image: str) -> None:
    real = library.load("humanize/file-sizes")
    update = {"hidden": None, "fail_to_pass": (), "pass_to_pass": ()}
    tests = real.task.tests.model_copy(update=update)
    task = replace(real, task=real.task.model_copy(update={"tests": tests}))
    with engine.start(SessionSpec(image)) as session:
        report = run_tests(GradingSession.prepare(task, session, "seed"), Candidate({}, (), {}))
    assert (report.outcomes, report.problem) == ({}, "")
    assert report.cases is not None
    assert report.cases.seed == "seed"
    passed = {case for case, found in report.cases.outcomes.items() if found.outcome == "passed"}
    assert task.task.tests.cases is not None
    assert passed == set(task.task.tests.cases.pass_to_pass)
