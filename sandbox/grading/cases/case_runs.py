"""Runs the cases of a task in the grading container."""

import math
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.container.changes.patch import safe
from sandbox.container.engines.base import Session
from sandbox.grading.cases import servants
from sandbox.grading.cases.answers import ForgedAnswer
from sandbox.grading.cases.calls import Call, Told, calls
from sandbox.grading.cases.case_builds import Built
from sandbox.grading.cases.comparing import objection
from sandbox.grading.cases.files import File
from sandbox.grading.cases.scripts import Script
from sandbox.grading.cases.standing import Standing
from sandbox.grading.cases.subjects import Caller, Function, McpServer, Program
from sandbox.grading.json_conversation import Unanswered
from sandbox.grading.testers import Testers
from sandbox.model.case import (
    Case,
    CaseFile,
    CommandSubject,
    FileSubject,
    FunctionSubject,
    HttpSubject,
    ScriptSubject,
)
from sandbox.model.grade import CaseOutcome, CaseReport

NOTHING_BUILT = Built()
AT_A_SHELL = FunctionSubject | CommandSubject | ScriptSubject
"""What is called once more as the agent would."""
FAILED = CaseOutcome(outcome="failed", calls=0)


@dataclass(frozen=True, slots=True)
class Ground:
    """Where cases are called."""

    session: Session
    worktree: str
    """The candidate's, which is laid already."""
    testers: Testers
    """The users of the session."""
    cpus: float
    """How many cases may go on at once."""


@dataclass(slots=True)
class _Cases:
    """The cases of one grading, in one container."""

    file: CaseFile
    ground: Ground
    built: Built
    servants: str
    as_agent: bool = False
    forged: str = ""
    _port: threading.Lock = field(default_factory=threading.Lock)

    def outcomes(
        self, cases: Sequence[Case], asked: dict[str, list[Call]]
    ) -> dict[str, CaseOutcome]:
        """Run cases, each by itself and some at once."""
        with ThreadPoolExecutor(math.ceil(self.ground.cpus)) as pool:
            found = pool.map(lambda case: self._outcome(case, asked[case.id]), cases)
            return {case.id: outcome for case, outcome in zip(cases, found, strict=True)}

    def _outcome(self, case: Case, asked: list[Call]) -> CaseOutcome:
        """Make all calls of a case, up to the first one that fails."""
        if self.built.problem:
            return CaseOutcome(outcome="failed", calls=0, problem=self.built.problem)
        made = 0
        try:
            with self._caller(case) as caller:
                for made, call in enumerate(asked, 1):
                    problem = objection(caller.call(call.given, case.seconds), call.expected)
                    if problem:
                        return self._failed(made, call, problem)
        except ForgedAnswer as error:
            self.forged = f"{case.id}: {error}"
            return self._failed(made, asked[made - 1], str(error))
        except Unanswered as error:
            return self._failed(made, asked[made - 1], str(error))
        except OSError as error:
            why = f"it cannot be started: {error.strerror}"
            return CaseOutcome(outcome="failed", calls=0, problem=why)
        return CaseOutcome(outcome="passed", calls=made)

    @contextmanager
    def _caller(self, case: Case) -> Iterator[Caller]:
        """Start what a case calls."""
        subject = self.file.subjects[case.subject]
        if isinstance(subject, FileSubject):
            yield File(subject, self.ground.session, self.ground.worktree)
            return
        if isinstance(subject, ScriptSubject):
            with closing(Script(self._standing(), self.servants)) as script:
                yield script
            return
        if not isinstance(subject, FunctionSubject):
            subject = subject.model_copy(update={"argv": self.built.filled(subject.argv)})
        alone = self._port if isinstance(subject, HttpSubject) else nullcontext()
        with alone:
            caller: Caller
            if isinstance(subject, FunctionSubject):
                caller = Function(subject, self._standing(), self.servants)
            elif isinstance(subject, CommandSubject):
                caller = Program(subject, self._standing())
            elif isinstance(subject, HttpSubject):
                from sandbox.grading.cases.http import HttpServer  # loads a client, and TLS

                caller = HttpServer(subject, self._standing(), self._standing())
            else:
                caller = McpServer(subject, self._standing())
            with closing(caller):
                yield caller

    def _standing(self) -> Standing:
        session, worktree = self.ground.session, self.ground.worktree
        if self.as_agent:
            return Standing.at_a_shell(session, worktree)
        return Standing.apart(session, worktree, self.ground.testers.new())

    def _failed(self, made: int, call: Call, why: str) -> CaseOutcome:
        given = ", ".join(f"{name} {value!r}" for name, value in call.given.items())
        where = "called at a shell, " if self.as_agent else ""
        with_what = "" if call.expected.lines else f"with {given[:300]}: "
        text = safe(f"{where}{with_what}{why}"[:1000])
        return CaseOutcome(outcome="failed", calls=made, problem=text)


def run_cases(
    file: CaseFile,
    reference: Path | None,
    seed: str,
    ground: Ground,
    built: Built = NOTHING_BUILT,
    told: Told | None = None,
) -> CaseReport:
    """Call what the candidate offers, and compare what comes.

    `built` is what was built of the candidate; where that failed every case has failed. `told` has
    what scripts and references have to give, if they were asked. Raises EngineError and its kind
    where the session breaks, DocumentError where the cases or their reference cannot be used.
    """
    return _run(file, calls(file, reference, seed, told), seed, ground, built)


def at_a_shell(seed: str) -> str:
    """Give the seed of what is called as the agent would."""
    return f"{seed}/shell"


def run_at_a_shell(
    file: CaseFile,
    reference: Path | None,
    report: CaseReport,
    ground: Ground,
    built: Built = NOTHING_BUILT,
    told: Told | None = None,
) -> CaseReport:
    """Call what has passed once more as the agent would, with other inputs, and say so.

    A candidate that is right only for who grades it is found out so. It runs as the agent, whom the
    whole worktree belongs to: nothing else may be judged by this session afterwards. `told` is for
    the seed that `at_a_shell` gives.
    """
    cases = tuple(
        case
        for case in file.cases
        if report.outcomes.get(case.id, FAILED).outcome == "passed"
        and isinstance(file.subjects[case.subject], AT_A_SHELL)
    )
    if not cases or report.tampering:
        return report
    fewer = file.model_copy(update={"cases": cases})
    asked = calls(fewer, reference, at_a_shell(report.seed), told)
    found = _run(fewer, asked, report.seed, ground, built, as_agent=True)
    if found.tampering:
        return found
    both = {
        name: one.model_copy(update={"calls": one.calls + report.outcomes[name].calls})
        for name, one in found.outcomes.items()
    }
    return report.model_copy(update={"outcomes": {**report.outcomes, **both}})


def _run(
    file: CaseFile,
    asked: dict[str, list[Call]],
    seed: str,
    ground: Ground,
    built: Built,
    *,
    as_agent: bool = False,
) -> CaseReport:
    with servants.laid(ground.session) as folder:
        cases = _Cases(file, ground, built, folder, as_agent)
        found = cases.outcomes(file.cases, asked)
    return CaseReport(
        seed=seed,
        outcomes={} if cases.forged else found,
        problem=safe(cases.forged),
        tampering=bool(cases.forged),
    )
