"""What is done before there is a candidate."""

import time
from dataclasses import replace

import pytest

from sandbox.container.candidate import Candidate, CandidateFile
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.grading.grading_session import GradingSession
from sandbox.grading.hidden import run_tests
from sandbox.grading.testers import HOMES, PARENTS
from sandbox.model.session import ROOT, Command
from sandbox.tasks.library import LoadedTask
from tests.sandbox.grading.probe import ANSWER, RIGHT

pytestmark = pytest.mark.engine

IN_PYTEST = """
import pathlib, sys
with pathlib.Path("/tmp/ran").open("a") as marks:
    print(sys.argv[0], file=marks)
class Lexer: pass
class TerminalFormatter: pass
class PythonLexer: pass
class DiffLexer: pass
class ClassNotFound(Exception): pass
def highlight(text, *_): return text
"""
"""What pytest takes of pygments. A runner that forks is itself read from standard input."""
OF_PYGMENTS = ("", ".lexer", ".lexers", ".lexers.python", ".lexers.diff", ".formatters")
MORE_OF_PYGMENTS = (".formatters.terminal", ".util")


def test_a_runner_loads_nothing_of_a_candidate_that_pytest_itself_needs(
    engine: Engine, image: str, task: LoadedTask
) -> None:
    """The repository is that of a package of which pytest takes something, as Pygments' is."""
    files = {
        f"src/pygments{name.replace('.', '/')}/__init__.py": IN_PYTEST.encode()
        for name in (*OF_PYGMENTS, *MORE_OF_PYGMENTS)
    }
    files["src/humanize/probe.py"] = b"import pygments\n" + RIGHT.encode()
    content = {path: CandidateFile(data, executable=False) for path, data in files.items()}
    packages = "/opt/venv/lib/python3.11/site-packages/pygments"
    with engine.start(SessionSpec(image)) as session:
        session.run(Command(argv=("/bin/rm", "-r", packages), user=ROOT))
        session.write("/tmp/ran", b"", mode=0o666, user=ROOT)
        for path, data in files.items():
            session.write(path, data, beneath=task.worktree, parents=True)
        report = run_tests(GradingSession.prepare(task, session), Candidate(content, (), {}))
        assert (report.problem, report.outcomes[ANSWER]) == ("", "passed")
        ran = session.read("/tmp/ran").split()
        assert ran
        assert b"-" not in ran


@pytest.mark.slow
@pytest.mark.parametrize("loaded", [True, False])
def test_a_runner_that_has_ended_before_it_was_asked_is_replaced(
    engine: Engine, image: str, task: LoadedTask, loaded: bool
) -> None:
    """As where cases took all memory: nobody has asked it for anything yet."""
    probe = {"src/humanize/probe.py": CandidateFile(RIGHT.encode(), executable=False)}
    with engine.start(SessionSpec(image)) as session:
        grading = GradingSession.prepare(task, session)
        assert grading.runner is not None
        if loaded:
            time.sleep(1)
        grading.runner.close()
        report = run_tests(grading, Candidate(probe, (), {}))
        assert (report.problem, report.outcomes[ANSWER]) == ("", "passed")
        assert session.kill_all() == 0


def test_nothing_is_left_of_what_was_prepared(engine: Engine, image: str, task: LoadedTask) -> None:
    look = Command(argv=("/usr/bin/find", *PARENTS, *HOMES, "-mindepth", "1", "-maxdepth", "1"))
    with engine.start(SessionSpec(image)) as session:
        before = session.run(look).stdout
        grading = GradingSession.prepare(task, session)
        assert session.run(look).stdout != before
        assert (
            b"pytest.ini" not in session.run(replace(look, argv=("/usr/bin/find", *PARENTS))).stdout
        )
        grading.close()
        grading.tidy()
        assert session.run(look).stdout == before
        assert session.kill_all() == 0
