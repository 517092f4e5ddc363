"""Runs the cases of a task in the grading container."""

import math
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from sandbox.container.changes.patch import safe
from sandbox.container.engines.base import Session
from sandbox.grading.cases.answers import ForgedAnswer
from sandbox.grading.cases.calls import Call, calls
from sandbox.grading.cases.case_builds import Built
from sandbox.grading.cases.comparing import objection
from sandbox.grading.cases.http import HttpServer
from sandbox.grading.cases.subjects import Caller, Function, McpServer, Program
from sandbox.grading.json_conversation import Unanswered
from sandbox.grading.testers import FIRST_SERVANT, tester
from sandbox.model.case import Case, CaseFile, CommandSubject, FunctionSubject, HttpSubject
from sandbox.model.grade import CaseOutcome, CaseReport
from sandbox.model.session import ROOT

RUNNERS = Path(__file__).parent.with_name("runners")
LAID = ("servant.py", "servant.js", "wire.py")


NOTHING_BUILT = Built()


@dataclass(frozen=True, slots=True)
class Ground:
    """Where cases are called."""

    session: Session
    worktree: str
    """The candidate's, which is laid already."""
    folder: str
    """The grader's own in the container."""
    cpus: float
    """How many cases may go on at once."""


class _Cases:
    """The cases of one grading, in one container."""

    def __init__(self, file: CaseFile, ground: Ground, built: Built) -> None:
        self._file, self._session, self._built = file, ground.session, built
        self._worktree, self._folder = ground.worktree, ground.folder
        self._port = threading.Lock()
        self.forged = ""

    def outcome(self, number: int, case: Case, asked: list[Call]) -> CaseOutcome:
        """Make all calls of a case, up to the first one that fails."""
        if self._built.problem:
            return CaseOutcome(outcome="failed", calls=0, problem=self._built.problem)
        made = 0
        try:
            with self._caller(number, case) as caller:
                for made, call in enumerate(asked, 1):
                    problem = objection(caller.call(call.given, case.seconds), call.expected)
                    if problem:
                        return _failed(made, call, problem)
        except ForgedAnswer as error:
            self.forged = f"{case.id}: {error}"
            return _failed(made, asked[made - 1], str(error))
        except Unanswered as error:
            return _failed(made, asked[made - 1], str(error))
        except OSError as error:
            why = f"it cannot be started: {error.strerror}"
            return CaseOutcome(outcome="failed", calls=0, problem=why)
        return CaseOutcome(outcome="passed", calls=made)

    @contextmanager
    def _caller(self, number: int, case: Case) -> Iterator[Caller]:
        """Start what a case calls, as a user of its own."""
        subject = self._file.subjects[case.subject]
        if not isinstance(subject, FunctionSubject):
            subject = subject.model_copy(update={"argv": self._built.filled(subject.argv)})
        user = tester(self._session, FIRST_SERVANT + 2 * number)
        alone = self._port if isinstance(subject, HttpSubject) else nullcontext()
        where = (self._session, self._worktree)
        with alone:
            caller: Caller
            if isinstance(subject, FunctionSubject):
                caller = Function(subject, *where, self._folder, user)
            elif isinstance(subject, CommandSubject):
                caller = Program(subject, *where, user)
            elif isinstance(subject, HttpSubject):
                relay = tester(self._session, FIRST_SERVANT + 2 * number + 1)
                caller = HttpServer(subject, *where, user, relay)
            else:
                caller = McpServer(subject, *where, user)
            with closing(caller):
                yield caller


def run_cases(
    file: CaseFile,
    reference: Path | None,
    seed: str,
    ground: Ground,
    built: Built = NOTHING_BUILT,
) -> CaseReport:
    """Call what the candidate offers, and compare what comes.

    `built` is what was built of the candidate; where that failed every case has failed. Raises
    EngineError and its kind where the session breaks, DocumentError where the cases or their
    reference cannot be used.
    """
    asked = calls(file, reference, seed)
    for name in LAID:
        content = (RUNNERS / name).read_bytes()
        path = f"{ground.folder}/{name}"
        ground.session.write(path, content, mode=0o444, user=ROOT, parents=True)
    cases = _Cases(file, ground, built)

    def one(number: int, case: Case) -> CaseOutcome:
        return cases.outcome(number, case, asked[case.id])

    with ThreadPoolExecutor(math.ceil(ground.cpus)) as pool:
        outcomes = pool.map(one, range(len(file.cases)), file.cases)
        found = {case.id: outcome for case, outcome in zip(file.cases, outcomes, strict=True)}
    return CaseReport(
        seed=seed,
        outcomes={} if cases.forged else found,
        problem=safe(cases.forged),
        tampering=bool(cases.forged),
    )


def _failed(made: int, call: Call, why: str) -> CaseOutcome:
    given = ", ".join(f"{name} {value!r}" for name, value in call.given.items())
    return CaseOutcome(
        outcome="failed", calls=made, problem=safe(f"with {given[:300]}: {why}"[:1000])
    )
