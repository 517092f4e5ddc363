"""The hidden tests, run in a fresh session on the candidate's files.

Tests, runner and configuration belong to root, cannot be written and come last. Each test file has
a process, a user and a temporary folder of its own; the supervisor starts it, its outcomes go
straight to the host, and what it leaves running is killed. In each file stand tests that have to
fail. The candidate is imported by the very process that judges it all the same: this is hardened,
not forgery-proof (see `docs/grading.md`).
"""

import contextlib
import math
import random
import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sandbox.candidate import Candidate, lay
from sandbox.changes.patch import safe
from sandbox.engines.base import Session
from sandbox.errors import DocumentError
from sandbox.grading import outcomes
from sandbox.grading.cases import run_cases
from sandbox.grading.frameworks import FRAMEWORKS
from sandbox.grading.frameworks.base import Framework, Place, TestFile
from sandbox.grading.testers import FIRST_TESTER, tester
from sandbox.model import path as paths
from sandbox.model.grade import CaseReport, TestOutcome, TestReport
from sandbox.model.session import AGENT, HOME, ROOT, Command, Completed
from sandbox.tasks import LoadedTask

FOLDER = "/grading"
OUTPUT_LIMIT = 256 << 10
LOG_LIMIT = 16 << 10
RESULTS_LIMIT = 16 << 20
"""Bytes of outcomes from one file; none that is honest has as many."""


@dataclass(frozen=True, slots=True)
class _Ran:
    """What came of one file."""

    outcomes: dict[str, TestOutcome]
    log: str
    problem: str = ""
    tampering: bool = False


def run_tests(
    task: LoadedTask, session: Session, candidate: Candidate, seed: str | None = None
) -> TestReport:
    """Lay the candidate and the hidden tests into a session that nobody used, and run them.

    Cases come first, when no test is there yet. Their inputs are drawn from `seed`, itself drawn
    where none is given, and it stands in the report. What the candidate breaks is in there too.
    Raises EngineError and its kind where the session breaks, DocumentError where the task's hidden
    files or cases cannot be used.
    """
    framework = FRAMEWORKS[task.task.tests.framework]
    hidden = dict(_hidden(task.folder / task.task.tests.hidden))
    graded = _graded(task, framework)
    own = Candidate(
        {path: file for path, file in candidate.files.items() if path not in graded},
        tuple(path for path in candidate.deleted if path not in graded),
        candidate.refused,
    )
    failed = lay(own, session, task.worktree)
    if failed:
        path, why = next(iter(failed.items()))
        return _broken(f"the candidate does not fit the repository: {safe(path)}: {why}")
    place = Place(f"{FOLDER}/{secrets.token_hex(8)}", task.worktree, frozenset(hidden))
    tests = sorted(graded | {path for path in hidden if framework.is_test_file(path)})
    _open_up(session, task.worktree)
    cases = _run_cases(task, session, place, seed or secrets.token_hex(16))
    try:
        files = _lay_tests(framework, session, hidden, place, tests)
    except OSError as error:
        return _broken(f"the candidate is in the way of the hidden tests: {error.strerror}")
    ran = _run_all(task, framework, session, place, files)
    session.kill_all()
    return _report(ran).model_copy(update={"cases": cases})


def _run_cases(task: LoadedTask, session: Session, place: Place, seed: str) -> CaseReport | None:
    declared = task.task.tests.cases
    if declared is None or task.cases is None:
        return None
    report = run_cases(
        task.cases,
        None if declared.reference is None else task.folder / declared.reference,
        seed,
        session,
        worktree=place.worktree,
        folder=place.folder,
        cpus=task.task.limits.cpus,
    )
    session.kill_all()
    return report


def _hidden(top: Path) -> Iterator[tuple[str, bytes]]:
    try:
        for path in sorted(top.rglob("*")):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise DocumentError(f"{path} is no plain file, and hidden tests are.")
            if path.is_file() and "__pycache__" not in path.parts:
                yield paths.text(bytes(path.relative_to(top))), path.read_bytes()
    except OSError as error:
        raise DocumentError(f"The hidden tests cannot be read: {error}.") from error


def _graded(task: LoadedTask, framework: Framework) -> set[str]:
    """Give the files that the expected tests are in: they never come from a candidate."""
    tests = task.task.tests
    return {framework.file_of(test) for test in tests.fail_to_pass + tests.pass_to_pass}


def _lay_tests(
    framework: Framework,
    session: Session,
    hidden: dict[str, bytes],
    place: Place,
    tests: list[str],
) -> dict[str, TestFile]:
    """Put everything of the grader's into the container, owned by root and read-only."""
    for path, content in hidden.items():
        if path not in tests and not framework.configures(path):
            _lay(session, paths.raw(path), content, place.worktree)
    files = {}
    for path in tests:
        raw = paths.raw(path)
        source = hidden.get(path)
        if source is None:
            source = session.read(raw, beneath=place.worktree, follow=False)
        files[path] = _with_canaries(framework, path, source)
        _lay(session, raw, files[path].source, place.worktree)
    for name, content in framework.runner_files(hidden).items():
        _lay(session, f"{place.folder}/{name}", content, "/")
    return files


def _with_canaries(framework: Framework, path: str, source: bytes) -> TestFile:
    try:
        return framework.with_canaries(path, source, random.SystemRandom())
    except ValueError as error:
        raise DocumentError(f"The test file {path} cannot be read: {error}.") from error


def _lay(session: Session, path: str | bytes, content: bytes, beneath: str) -> None:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        session.remove(path, beneath=beneath, user=ROOT)
    session.write(path, content, beneath=beneath, mode=0o444, user=ROOT, parents=True)


def _open_up(session: Session, worktree: str) -> None:
    """Let the tests' users read what belongs to the agent's."""
    closed = [
        path for path in (HOME, worktree) if session.stat(path, follow=True).mode & 0o005 != 0o005
    ]
    if closed:
        session.run(Command(argv=("/bin/chmod", "o+rx", *closed), user=AGENT))


def _run_all(
    task: LoadedTask,
    framework: Framework,
    session: Session,
    place: Place,
    files: dict[str, TestFile],
) -> list[_Ran]:
    """Run each file in a process of its own, as many at once as the container has processors."""
    seconds = task.task.tests.timeout_seconds
    deadline = time.monotonic() + seconds

    def run(number: int, path: str) -> _Ran:
        own = tester(session, FIRST_TESTER + number)
        completed = session.run(
            Command(
                argv=framework.argv(place, path),
                cwd=place.worktree,
                environment={**framework.environment, **own.environment},
                user=own.user,
                timeout=max(deadline - time.monotonic(), 0.001),
                stdout_limit=RESULTS_LIMIT,
                stderr_limit=OUTPUT_LIMIT,
                kill_survivors=True,
            )
        )
        return _read(completed, path, files[path], seconds)

    with ThreadPoolExecutor(math.ceil(task.task.limits.cpus)) as pool:
        return list(pool.map(run, range(len(files)), files))


def _read(completed: Completed, path: str, file: TestFile, seconds: float) -> _Ran:
    log = safe(completed.stderr[-LOG_LIMIT:].decode("utf-8", "replace"))
    for canary in file.canaries:
        log = log.replace(canary.removeprefix(path), "::canary")
    if completed.timed_out:
        return _Ran({}, log, f"they took longer than {seconds:g} seconds")
    if completed.out_of_memory:
        return _Ran({}, log, "they ran out of memory")
    if completed.stdout_bytes > RESULTS_LIMIT:
        return _Ran({}, log, "there are more outcomes than the runner writes", tampering=True)
    try:
        return _Ran(outcomes.read(completed.stdout, completed.exit_code, file.canaries), log)
    except outcomes.Forged as forged:
        return _Ran({}, log, f"{path}: {safe(str(forged))}", tampering=True)
    except outcomes.Stopped as stopped:
        return _Ran({}, log, f"{path}: {stopped}")


def _report(ran: list[_Ran]) -> TestReport:
    """Join what came of all files; where one was tampered with, no outcome counts."""
    tampering = any(file.tampering for file in ran)
    problems = dict.fromkeys(
        file.problem for file in ran if file.problem and file.tampering == tampering
    )
    found = {test: outcome for file in ran for test, outcome in file.outcomes.items()}
    share = LOG_LIMIT // max(len(ran), 1)
    return TestReport(
        outcomes={} if tampering else found,
        problem="; ".join(problems),
        tampering=tampering,
        log="".join(file.log[-share:] for file in ran),
    )


def _broken(problem: str) -> TestReport:
    return TestReport(outcomes={}, problem=problem)
