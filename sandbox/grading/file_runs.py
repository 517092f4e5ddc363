"""Test files, each run in a process of its own; what came of them, read on the host."""

import contextlib
import itertools
import math
import queue
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import PurePosixPath

from sandbox.container.changes.patch import safe
from sandbox.container.engines.base import Session
from sandbox.grading import outcomes
from sandbox.grading.frameworks.base import Forking, Framework, Place, TestFile
from sandbox.grading.own_tests import run_own
from sandbox.grading.patience import patient
from sandbox.grading.processes import Ended, Processes, lay_runner, processes
from sandbox.grading.tested import Tested
from sandbox.model import path_text as paths
from sandbox.model.errors import DocumentError
from sandbox.model.grade import OwnTests, TestOutcome, TestReport, TestRun
from sandbox.model.session import ROOT
from sandbox.tasks.library import LoadedTask

LOG_LIMIT = 64 << 10
OWN_SECONDS = 60.0
"""How long the tests that the agent had to write may take."""


@dataclass(frozen=True, slots=True)
class _Ran:
    """What came of one file."""

    outcomes: dict[str, TestOutcome]
    log: str
    problem: str = ""
    tampering: bool = False


def run_files(
    task: LoadedTask,
    tested: Tested,
    hidden: dict[str, bytes],
    tests: list[str],
    runner: Processes | None = None,
) -> TestReport:
    """Lay the hidden tests and run these files, then those that the agent had to write.

    `runner` is one that was started before the candidate was there.
    """
    session, framework, place = tested.session, tested.framework, tested.place
    lay_runner(framework, session, place.folder, hidden)
    with contextlib.ExitStack() as stack:

        def start() -> Processes:
            started = processes(framework, session, place, tested.testers.new())
            stack.callback(started.close)
            return started

        first = runner or start()
        stack.callback(first.close)
        try:
            files = _lay_tests(framework, session, hidden, place, tests)
        except FileNotFoundError as error:
            gone = f"{error.filename} is neither among the hidden files nor in the worktree"
            return broken(f"tests are listed of a file that is not there: {gone}")
        except OSError as error:
            return broken(f"the candidate is in the way of the hidden tests: {error.strerror}")
        deadline = time.monotonic() + patient(task.task.tests.timeout_seconds)
        runs = _Runs(session, place, deadline, files)
        others = min(math.ceil(task.task.limits.cpus), len(tests)) - 1
        patience = framework.patience if isinstance(framework, Forking) else 0.0
        report = _report(runs.all(first, others, start, patience))
    session.kill_all()
    wanted = task.task.tests.own
    return report.model_copy(update={"own": _own(wanted, tested) if wanted else None})


def _own(wanted: tuple[str, ...], tested: Tested) -> dict[str, OwnTests]:
    """Run the tests that the agent had to write."""
    try:
        return run_own(wanted, tested, time.monotonic() + patient(OWN_SECONDS))
    except OSError as error:
        unread = TestRun(problem=f"the candidate is in its way: {error.strerror}")
        return dict.fromkeys(wanted, OwnTests(without_fix=unread, with_fix=unread))


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
            try:
                source = session.read(paths.raw(path), beneath=place.worktree, follow=False)
            except FileNotFoundError as error:
                raise FileNotFoundError(error.errno, error.strerror, path) from error
        sources[path] = source
    files = _versions(framework, sources, hidden)
    for path, (first, *_) in files.items():
        _lay(session, paths.raw(path), first.source, place.worktree)
    return files


def _lay(session: Session, path: str | bytes, content: bytes, beneath: str) -> None:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        session.remove(path, beneath=beneath, user=ROOT)
    session.write(path, content, beneath=beneath, mode=0o444, user=ROOT, parents=True)


def _versions(
    framework: Framework, sources: dict[str, bytes], hidden: dict[str, bytes]
) -> dict[str, list[TestFile]]:
    """Put canaries into each file; one file has a decoy, too, before it or after it.

    A decoy's tests have the ids of the real ones, and have to fail. A file that another one loads
    has none: its tests may be inherited, and would fail there as well.
    """
    chance = random.SystemRandom()
    versions = {}
    for path, source in sources.items():
        try:
            versions[path] = [framework.with_canaries(path, source, chance)]
        except ValueError as error:
            raise DocumentError(f"The test file {path} cannot be read: {error}.") from error
    alone = _not_loaded(framework, sources, hidden)
    for path in chance.sample(alone, len(alone)):
        decoy = framework.sabotaged(path, sources[path], chance)
        if decoy is not None:
            like_the_others = framework.with_canaries(path, decoy.source, chance)
            decoy = TestFile(like_the_others.source, decoy.canaries, decoy=True)
            versions[path].insert(chance.randrange(2), decoy)
            break
    return versions


def _not_loaded(
    framework: Framework, sources: dict[str, bytes], hidden: dict[str, bytes]
) -> list[str]:
    """Give the test files that no other file of the grader's loads, in order."""
    loaded: set[str] = set()
    for path, source in {**hidden, **sources}.items():
        with contextlib.suppress(ValueError):  # not a file of the language
            loaded |= framework.loads(source) - {PurePosixPath(path).stem}
    return sorted(path for path in sources if PurePosixPath(path).stem not in loaded)


class _Runs:
    """Runs each file in a process of its own, some files at once."""

    def __init__(
        self, session: Session, place: Place, deadline: float, files: dict[str, list[TestFile]]
    ) -> None:
        self._session, self._place, self._deadline = session, place, deadline
        self._left = queue.SimpleQueue[tuple[str, list[TestFile]]]()
        for each in files.items():
            self._left.put(each)
        self._all_taken = threading.Event()

    def all(
        self, first: Processes, others: int, start: Callable[[], Processes], patience: float
    ) -> list[_Ran]:
        """Run all files; up to `others` more processes help where some are left after a while."""

        def help_out(_: int) -> list[_Ran]:
            return [] if self._all_taken.wait(patience) else self._work(start())

        with ThreadPoolExecutor(1 + others) as pool:
            begun = pool.submit(self._work, first)
            helped = list(pool.map(help_out, range(others)))
            return list(itertools.chain(begun.result(), *helped))

    def _work(self, process: Processes) -> list[_Ran]:
        """Run files until there are none left."""
        ran = []
        with contextlib.suppress(queue.Empty):
            while True:
                path, versions = self._left.get_nowait()
                if self._left.empty():
                    self._all_taken.set()
                for number, file in enumerate(versions):
                    if number:
                        self._replace(path, file.source)
                    ran.append(_read(process.run(path, self._deadline), path, file))
        return ran

    def _replace(self, path: str, source: bytes) -> None:
        """Put another version in place of a file at once: others may be compiled with it."""
        beneath = self._place.worktree
        self._session.write(paths.raw(path), source, beneath=beneath, mode=0o444, user=ROOT)


def _read(ended: Ended, path: str, file: TestFile) -> _Ran:
    log = safe(ended.log[-LOG_LIMIT:].decode("utf-8", "replace"))
    for canary in sorted(file.canaries, key=len, reverse=True):
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


def broken(problem: str) -> TestReport:
    """Report that nothing could be run."""
    return TestReport(outcomes={}, problem=problem)
