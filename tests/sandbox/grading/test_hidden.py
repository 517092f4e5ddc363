from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import places, tasks
from sandbox.candidate import Candidate, CandidateFile
from sandbox.engines import connect
from sandbox.engines.base import Engine, SessionSpec
from sandbox.errors import DocumentError
from sandbox.grading import run_tests
from sandbox.images import Images
from sandbox.model.grade import TestReport
from sandbox.tasks import LoadedTask

pytestmark = pytest.mark.engine

TESTS = """
import pytest

import humanize.probe


def test_answer():
    assert humanize.probe.answer() == 42


def test_skipped():
    pytest.skip("no reason")


@pytest.mark.parametrize("text", ["a b", "é/[]"])
def test_named(text):
    assert text
"""

FILE = "tests/test_probe.py"
ANSWER = f"{FILE}::test_answer"

Run = Callable[..., TestReport]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = connect()
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def image(engine: Engine) -> str:
    task = tasks.load("humanize/file-sizes")
    return Images(engine, places.cache()).ensure(task, print).tag


@pytest.fixture
def task(tmp_path: Path) -> LoadedTask:
    """A small task in the repository of a real one."""
    hidden = tmp_path / "hidden" / FILE
    hidden.parent.mkdir(parents=True)
    hidden.write_text(TESTS)
    loaded = tasks.load("humanize/file-sizes")
    update = {"hidden": "hidden", "fail_to_pass": (ANSWER,), "pass_to_pass": ()}
    tests = loaded.task.tests.model_copy(update=update)
    return replace(loaded, task=loaded.task.model_copy(update={"tests": tests}), folder=tmp_path)


@pytest.fixture
def run(engine: Engine, image: str, task: LoadedTask) -> Run:
    def run(probe: str, timeout: float = 20.0, **files: str) -> TestReport:
        found = {"src/humanize/probe.py": probe, **files}
        content = {
            path: CandidateFile(text.encode(), executable=False) for path, text in found.items()
        }
        tests = task.task.tests.model_copy(update={"timeout_seconds": timeout})
        limited = replace(task, task=task.task.model_copy(update={"tests": tests}))
        with engine.start(SessionSpec(image)) as session:
            return run_tests(limited, session, Candidate(content, (), {}))

    return run


RIGHT = "def answer():\n    return 42\n"
WRONG = "def answer():\n    return 41\n"


def test_outcomes_are_those_of_the_tests_by_exact_id(run: Run) -> None:
    report = run(RIGHT)
    assert report.outcomes == {
        ANSWER: "passed",
        f"{FILE}::test_skipped": "skipped",
        f"{FILE}::test_named[a b]": "passed",
        f"{FILE}::test_named[\\xe9/[]]": "passed",
    }
    assert (report.problem, report.tampering) == ("", False)


def test_a_wrong_answer_fails(run: Run) -> None:
    report = run(WRONG)
    assert report.outcomes[ANSWER] == "failed"
    assert "41 == 42" in report.log


def test_a_candidate_that_cannot_be_imported_has_no_outcomes_and_forged_none(run: Run) -> None:
    report = run("def answer(:\n")
    assert report.outcomes == {}
    assert (report.problem, report.tampering) == ("", False)
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

WRITE_RESULTS = """
import gc, io, json
for stream in gc.get_objects():
    if isinstance(stream, io.TextIOWrapper) and "results.jsonl" in str(stream.name):
        for phase in ("setup", "call", "teardown"):
            stream.write(json.dumps({"test": "tests/test_probe.py::test_answer",
                "phase": phase, "outcome": "passed", "expected": False}) + "\\n")
"""


@pytest.mark.parametrize("attack", [REWRITE_REPORTS, WRITE_RESULTS])
def test_forged_outcomes_are_tampering(run: Run, attack: str) -> None:
    report = run(attack + WRONG)
    assert report.tampering
    assert report.problem
    assert report.outcomes == {}


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


@pytest.mark.parametrize("attack", [EXIT, SKIP, STOP, EDIT])
def test_nothing_else_passes_either(run: Run, attack: str) -> None:
    report = run(attack + WRONG)
    assert report.outcomes.get(ANSWER) != "passed"


def test_time_is_limited(run: Run) -> None:
    report = run("while True:\n    pass\n", timeout=1.0)
    assert "longer than 1 seconds" in report.problem
    assert not report.tampering


def test_what_does_not_fit_the_repository_is_a_problem(run: Run) -> None:
    assert "does not fit" in run(RIGHT, src="a file\n").problem


def test_hidden_files_are_plain(run: Run, task: LoadedTask) -> None:
    (task.folder / "hidden/link.py").symlink_to("/etc/passwd")
    with pytest.raises(DocumentError, match="plain"):
        run(RIGHT)
