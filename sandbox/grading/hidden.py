"""The hidden tests, run in a fresh session on the candidate's files.

Tests, runner and configuration belong to root and come last; the tests run as a user that owns
nothing. The candidate is imported by the very process that judges it: this is hardened, not
forgery-proof (see `graders/tests.py`).
"""

import contextlib
import json
import random
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.candidate import Candidate, lay
from sandbox.changes.patch import safe
from sandbox.engines.base import Session
from sandbox.errors import DocumentError
from sandbox.grading import outcomes
from sandbox.model import path as paths
from sandbox.model.grade import TestReport
from sandbox.model.session import AGENT, HOME, ROOT, Command, Completed, User
from sandbox.tasks import LoadedTask

RUNNER = Path(__file__).with_name("pytest_runner.py")
PYTHON = "/opt/venv/bin/python"
PRISTINE = ("--check-hash-based-pycs", "never")
"""What was compiled with the image is what its sources say: nobody has touched them."""
FOLDER = "/grading"
INI = "pytest.ini"
"""A hidden file of this name is the runner's configuration and stays out of the worktree."""

TESTER = User(10002, 10002)
OUTPUT_LIMIT = 256 << 10
LOG_LIMIT = 16 << 10
RESULTS_LIMIT = 64 << 20

ENVIRONMENT = {
    "HOME": "/tmp",  # noqa: S108 - of the grading container
    "LANG": "C.UTF-8",
    "PATH": "/opt/venv/bin:/usr/local/bin:/usr/bin:/bin",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONNOUSERSITE": "1",
    "PYTHONSAFEPATH": "1",
    "TZ": "UTC",
}

CANARY = "def {name}() -> None:\n    assert {left} == {right}\n"


@dataclass(frozen=True, slots=True)
class _Canary:
    """A test that has to fail, under a name that nobody can know."""

    path: str
    name: str

    @property
    def test(self) -> str:
        return f"{self.path}::{self.name}"


def run_tests(task: LoadedTask, session: Session, candidate: Candidate) -> TestReport:
    """Lay the candidate and the hidden tests into a session that nobody used, and run them.

    What the candidate breaks is in the report. Raises EngineError and its kind where the session
    breaks, DocumentError where the task's hidden files cannot be read.
    """
    hidden = dict(_hidden(task.folder / task.task.tests.hidden))
    graded = _files(task)
    own = Candidate(
        {path: file for path, file in candidate.files.items() if path not in graded},
        tuple(path for path in candidate.deleted if path not in graded),
        candidate.refused,
    )
    failed = lay(own, session, task.worktree)
    if failed:
        path, why = next(iter(failed.items()))
        return _broken(f"the candidate does not fit the repository: {safe(path)}: {why}")
    folder = f"{FOLDER}/{secrets.token_hex(8)}"
    try:
        canary = _lay_tests(task, session, hidden, folder)
    except OSError as error:
        return _broken(f"the candidate is in the way of the hidden tests: {error.strerror}")
    completed = session.run(
        Command(
            argv=(PYTHON, *PRISTINE, f"{folder}/{RUNNER.name}", f"{folder}/configuration.json"),
            cwd=task.worktree,
            environment=ENVIRONMENT,
            user=TESTER,
            timeout=task.task.tests.timeout_seconds,
            stdout_limit=OUTPUT_LIMIT,
            stderr_limit=OUTPUT_LIMIT,
            kill_survivors=True,
        )
    )
    session.kill_all()
    return _report(task, session, completed, canary, f"{folder}/results.jsonl")


def _hidden(top: Path) -> Iterator[tuple[str, bytes]]:
    try:
        for path in sorted(top.rglob("*")):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise DocumentError(f"{path} is no plain file, and hidden tests are.")
            if path.is_file() and "__pycache__" not in path.parts:
                yield paths.text(bytes(path.relative_to(top))), path.read_bytes()
    except OSError as error:
        raise DocumentError(f"The hidden tests cannot be read: {error}.") from error


def _files(task: LoadedTask) -> set[str]:
    """Give the files that the expected tests are in: they never come from a candidate."""
    tests = task.task.tests
    return {test.partition("::")[0] for test in tests.fail_to_pass + tests.pass_to_pass}


def _lay_tests(
    task: LoadedTask, session: Session, hidden: dict[str, bytes], folder: str
) -> _Canary:
    """Put everything of the grader's into the container, owned by root and read-only."""
    _open_up(session, task.worktree)
    ini = hidden.pop(INI, b"[pytest]\n")
    tests = sorted(_files(task) | {path for path in hidden if _is_test(path)})
    name = f"test_{secrets.token_hex(8)}"
    canary = _Canary(f"{tests[0].rpartition('/')[0]}/{name}.py".lstrip("/"), name)
    left, right = random.SystemRandom().sample(range(1_000_000), 2)
    source = CANARY.format(name=name, left=left, right=right).encode()
    for path, content in {**hidden, canary.path: source}.items():
        _lay(session, paths.raw(path), content, task.worktree)
    tests.insert(random.SystemRandom().randrange(len(tests) + 1), canary.path)
    results = f"{folder}/results.jsonl"
    arguments = _arguments(task, f"{folder}/{INI}", tests, hidden)
    settings = {"arguments": arguments, "results": results}
    _lay(session, f"{folder}/{INI}", ini, "/")
    _lay(session, f"{folder}/{RUNNER.name}", RUNNER.read_bytes(), "/")
    _lay(session, f"{folder}/configuration.json", json.dumps(settings).encode(), "/")
    session.write(results, b"", mode=0o666, user=ROOT)
    return canary


def _is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def _lay(session: Session, path: str | bytes, content: bytes, beneath: str) -> None:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        session.remove(path, beneath=beneath, user=ROOT)
    session.write(path, content, beneath=beneath, mode=0o444, user=ROOT, parents=True)


def _open_up(session: Session, worktree: str) -> None:
    """Let the tests' user read what belongs to the agent's."""
    closed = [
        path for path in (HOME, worktree) if session.stat(path, follow=True).mode & 0o005 != 0o005
    ]
    if closed:
        session.run(Command(argv=("/bin/chmod", "o+rx", *closed), user=AGENT))


def _arguments(task: LoadedTask, ini: str, tests: list[str], hidden: dict[str, bytes]) -> list[str]:
    brought = any(path.rpartition("/")[2] == "conftest.py" for path in hidden)
    return [
        "-c",
        ini,
        f"--rootdir={task.worktree}",
        *("-o", "addopts="),
        *("-p", "no:cacheprovider"),
        *(() if brought else ("--noconftest",)),
        "--import-mode=importlib",
        "--continue-on-collection-errors",
        "--color=no",
        "--tb=line",
        "-q",
        "--",
        *tests,
    ]


def _report(
    task: LoadedTask, session: Session, completed: Completed, canary: _Canary, results: str
) -> TestReport:
    log = safe((completed.stdout + completed.stderr)[-LOG_LIMIT:].decode("utf-8", "replace"))
    log = log.replace(canary.name, "test_canary")
    report = TestReport(outcomes={}, exit_code=completed.exit_code, log=log)
    if completed.timed_out:
        seconds = task.task.tests.timeout_seconds
        return report.model_copy(update={"problem": f"they took longer than {seconds:g} seconds"})
    if completed.out_of_memory:
        return report.model_copy(update={"problem": "they ran out of memory"})
    try:
        data = session.read(results, limit=RESULTS_LIMIT, follow=False)
        found = outcomes.read(data, canary.test)
    except outcomes.Forged as forged:
        update: dict[str, object] = {"problem": str(forged), "tampering": True}
    except outcomes.Stopped as stopped:
        update = {"problem": str(stopped)}
    except OSError as error:
        update = {"problem": f"the outcomes cannot be read: {error.strerror}", "tampering": True}
    else:
        update = {"outcomes": found}
    return report.model_copy(update=update)


def _broken(problem: str) -> TestReport:
    return TestReport(outcomes={}, exit_code=None, problem=problem)
