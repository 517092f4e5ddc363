"""The hidden tests, run in a fresh session on the candidate's files.

Tests, runner and configuration belong to root, cannot be written and come last. Each test file has
a process, a user and a temporary folder of its own; the supervisor starts it, its outcomes go
straight to the host, and what it leaves running is killed. In each file stand tests that have to
fail, and one file, nobody knows which, is run once more with all its tests made to fail. The
candidate is imported by the very process that judges it all the same: this is hardened, not
forgery-proof (see `docs/grading.md`).
"""

import contextlib
import itertools
import math
import queue
import random
import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sandbox.container.candidate import Candidate, lay
from sandbox.container.changes.patch import safe
from sandbox.container.engines.base import Session
from sandbox.grading import outcomes
from sandbox.grading.cases import Ground, run_cases
from sandbox.grading.cases.case_builds import Built, build
from sandbox.grading.frameworks import FRAMEWORKS
from sandbox.grading.frameworks.base import Framework, Place, TestFile
from sandbox.grading.own_tests import Originals, run_own
from sandbox.grading.processes import Ended, Processes, processes
from sandbox.grading.testers import FIRST_TESTER, tester
from sandbox.model import path_text as paths
from sandbox.model.errors import DocumentError
from sandbox.model.grade import CaseReport, TestOutcome, TestReport
from sandbox.model.session import AGENT, HOME, ROOT, Command
from sandbox.tasks.library import LoadedTask

FOLDER = "/grading"
LOG_LIMIT = 16 << 10
OWN_SECONDS = 60.0
"""How long the tests that the agent had to write may take."""


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
    framework = FRAMEWORKS.get(task.task.tests.framework)
    top = task.task.tests.hidden
    hidden = {} if top is None else dict(_hidden(task.folder / top))
    graded = _graded(task, framework) if framework else set()
    own = Candidate(
        {path: file for path, file in candidate.files.items() if path not in graded},
        tuple(path for path in candidate.deleted if path not in graded),
        candidate.refused,
    )
    originals = Originals.of(session, task.worktree, own) if task.task.tests.own else None
    failed = lay(own, session, task.worktree)
    if failed:
        path, why = next(iter(failed.items()))
        return _broken(f"the candidate does not fit the repository: {safe(path)}: {why}")
    place = Place(f"{FOLDER}/{secrets.token_hex(8)}", task.worktree, frozenset(hidden))
    _open_up(session, task.worktree)
    cases = _run_cases(task, session, place, seed or secrets.token_hex(16))
    if framework is None:
        return TestReport(outcomes={}, cases=cases)
    tests = sorted(graded | {path for path in hidden if framework.is_test_file(path)})
    if not tests:
        return TestReport(outcomes={}, cases=cases)
    for name, content in framework.runner_files(hidden).items():
        session.write(f"{place.folder}/{name}", content, mode=0o444, user=ROOT, parents=True)
    with contextlib.ExitStack() as stack:
        running = []
        for number in range(_at_once(task, tests)):
            user = tester(session, FIRST_TESTER + number)
            running.append(processes(framework, session, place, user))
            stack.callback(running[-1].close)
        try:
            files = _lay_tests(framework, session, hidden, place, tests)
        except OSError as error:
            return _broken(f"the candidate is in the way of the hidden tests: {error.strerror}")
        ran = _run_all(task, session, place, files, running)
        known: dict[str, object] = {"cases": cases}
        if originals is not None:
            where, deadline = (framework, session, place), time.monotonic() + OWN_SECONDS
            wanted = task.task.tests.own
            try:
                known["own"] = run_own(wanted, own, originals, where, running[0], deadline)
            except OSError as error:
                return _broken(f"the candidate is in the way of its own tests: {error.strerror}")
    session.kill_all()
    return _report(ran).model_copy(update=known)


def _run_cases(task: LoadedTask, session: Session, place: Place, seed: str) -> CaseReport | None:
    declared = task.task.tests.cases
    if declared is None or task.cases is None:
        return None
    where = (session, place.worktree, place.folder)
    built = Built() if declared.build is None else build(declared.build, task.folder, *where)
    report = run_cases(
        task.cases,
        None if declared.reference is None else task.folder / declared.reference,
        seed,
        Ground(*where, task.task.limits.cpus),
        built,
    )
    session.kill_all()
    return report


def _hidden(top: Path) -> Iterator[tuple[str, bytes]]:
    try:
        for path in sorted(top.rglob("*")):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise DocumentError(
                    f"{path} is not a plain file; hidden tests have to be plain files."
                )
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
) -> dict[str, list[TestFile]]:
    """Put everything of the grader's into the worktree, root's and read-only.

    Of a file with a decoy the one that runs first is laid.
    """
    for path, content in hidden.items():
        if path not in tests and not framework.configures(path):
            _lay(session, paths.raw(path), content, place.worktree)
    sources = {}
    for path in tests:
        source = hidden.get(path)
        if source is None:
            source = session.read(paths.raw(path), beneath=place.worktree, follow=False)
        sources[path] = source
    files = _versions(framework, sources)
    for path, (first, *_) in files.items():
        _lay(session, paths.raw(path), first.source, place.worktree)
    return files


def _at_once(task: LoadedTask, tests: list[str]) -> int:
    """Say how many files are run at once: one for each of the container's processors.

    A runner costs its processor as much as three files do, and nobody has to wait for that.
    """
    return max(min(math.ceil(task.task.limits.cpus), len(tests)), 1)


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


def _versions(framework: Framework, sources: dict[str, bytes]) -> dict[str, list[TestFile]]:
    """Put canaries into each file; one file has a decoy, too, before it or after it.

    A decoy's tests have the ids of the real ones, and have to fail.
    """
    chance = random.SystemRandom()
    versions = {}
    for path, source in sources.items():
        try:
            versions[path] = [framework.with_canaries(path, source, chance)]
        except ValueError as error:
            raise DocumentError(f"The test file {path} cannot be read: {error}.") from error
    for path in chance.sample(sorted(sources), len(sources)):
        decoy = framework.sabotaged(path, sources[path], chance)
        if decoy is not None:
            like_the_others = framework.with_canaries(path, decoy.source, chance)
            decoy = TestFile(like_the_others.source, decoy.canaries, decoy=True)
            versions[path].insert(chance.randrange(2), decoy)
            break
    return versions


def _run_all(
    task: LoadedTask,
    session: Session,
    place: Place,
    files: dict[str, list[TestFile]],
    running: list[Processes],
) -> list[_Ran]:
    """Run each file in a process of its own."""
    deadline = time.monotonic() + task.task.tests.timeout_seconds
    left = queue.SimpleQueue[tuple[str, list[TestFile]]]()
    for each in files.items():
        left.put(each)

    def work(process: Processes) -> list[_Ran]:
        """Run files until there are none left."""
        ran = []
        with contextlib.suppress(queue.Empty):
            while True:
                path, versions = left.get_nowait()
                for number, file in enumerate(versions):
                    if number:
                        _lay(session, paths.raw(path), file.source, place.worktree)
                    ran.append(_read(process.run(path, deadline), path, file))
        return ran

    with ThreadPoolExecutor(len(running)) as pool:
        return list(itertools.chain.from_iterable(pool.map(work, running)))


def _read(ended: Ended, path: str, file: TestFile) -> _Ran:
    log = safe(ended.log[-LOG_LIMIT:].decode("utf-8", "replace"))
    for canary in file.canaries:
        log = log.replace(canary.removeprefix(path), "::canary")
    if ended.problem:
        return _Ran({}, log, f"{path}: {safe(ended.problem)}")
    if ended.cut:
        why = f"{path}: there are more outcomes than the runner writes"
        return _Ran({}, log, why, tampering=True)
    try:
        if file.decoy:
            outcomes.check_decoy(ended.outcomes, ended.status, file.canaries)
            return _Ran({}, "")
        return _Ran(outcomes.read(ended.outcomes, ended.status, file.canaries), log)
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
