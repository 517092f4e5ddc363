"""The hidden tests, run in a fresh session on the candidate's files.

Tests, runner and configuration belong to root, cannot be written and come last. Each test file has
a process, a user and a temporary folder of its own; the supervisor starts it, its outcomes go
straight to the host, and what it leaves running is killed. In each file stand tests that have to
fail, and one file, nobody knows which, is run once more with all its tests made to fail. The
candidate is imported by the very process that judges it all the same: this is hardened, not
forgery-proof (see `docs/grading.md`).
"""

from dataclasses import dataclass, field

from sandbox.container.candidate import Candidate, lay
from sandbox.container.changes.patch import safe
from sandbox.grading.cases import at_a_shell, run_at_a_shell, run_cases
from sandbox.grading.cases.case_builds import Built, build
from sandbox.grading.file_runs import broken, run_files
from sandbox.grading.files import Files
from sandbox.grading.frameworks.base import Place
from sandbox.grading.graded_files import graded_files
from sandbox.grading.grading_session import GradingSession
from sandbox.grading.scripts import run_script
from sandbox.grading.tested import Tested
from sandbox.model.grade import CaseReport, TestReport


def run_tests(grading: GradingSession, candidate: Candidate) -> TestReport:
    """Lay the candidate and the hidden tests into a session that nobody used, and run them.

    Cases come first, when no test is there yet; what their inputs were drawn from stands in the
    report, and what the candidate breaks. Raises EngineError and its kind where the session breaks,
    DocumentError where the task's hidden files or cases cannot be used.
    """
    try:
        return _run(grading, candidate)
    finally:
        grading.close()


def _run(grading: GradingSession, candidate: Candidate) -> TestReport:
    task, session, framework = grading.task, grading.session, grading.framework
    hidden, testers = grading.hidden, grading.testers
    graded = graded_files(task, framework) if framework else set()
    own = Candidate(
        {path: file for path, file in candidate.files.items() if path not in graded},
        tuple(path for path in candidate.deleted if path not in graded),
        candidate.refused,
    )
    before = Files.of(session, task.worktree, (*own.files, *own.deleted))
    failed = lay(own, session, task.worktree)
    if failed:
        path, why = next(iter(failed.items()))
        return broken(f"the candidate does not fit the repository: {safe(path)}: {why}")
    if (script := task.task.tests.script) is not None:
        return run_script(task, session, hidden, script)
    place = Place(grading.folder, task.worktree, frozenset(hidden), frozenset(own.files))
    cases = _Cases(grading)
    cases.apart()
    tests = sorted(graded | {path for path in hidden if framework and framework.is_test_file(path)})
    if framework is None or not tests:
        return TestReport(outcomes={}, cases=cases.at_a_shell())
    there = Files.of(session, task.worktree, {*hidden, *tests})
    tested = Tested(session, framework, place, testers, own, before)
    report = run_files(task, tested, hidden, tests, grading.runner)
    if not report.problem:
        grading.tidy()
        there.put_back()
        if task.task.tests.own:
            lay(own, session, task.worktree)
        cases.at_a_shell()
    return report.model_copy(update={"cases": cases.report})


@dataclass(slots=True)
class _Cases:
    """The cases of a task, before its tests and after."""

    grading: GradingSession
    report: CaseReport | None = None
    built: Built = field(default_factory=Built)

    def apart(self) -> None:
        """Build, and call everything as users who can touch nothing else."""
        grading = self.grading
        declared, file = grading.task.task.tests.cases, grading.task.cases
        if declared is None or file is None:
            return
        if declared.build is not None:
            where = (grading.session, grading.task.worktree, grading.testers)
            self.built = build(declared.build, grading.task.folder, *where)
        told = grading.told[grading.seed]
        how = (grading.reference, grading.seed, grading.ground, self.built, told)
        self.report = run_cases(file, *how)
        waiting = grading.runner
        grading.session.kill_all(but=None if waiting is None else waiting.runner)

    def at_a_shell(self) -> CaseReport | None:
        """Call it once more as the agent would; nothing else is judged afterwards."""
        grading = self.grading
        if self.report is not None and grading.task.cases is not None:
            told = grading.told[at_a_shell(grading.seed)]
            how = (grading.reference, self.report, grading.ground, self.built, told)
            self.report = run_at_a_shell(grading.task.cases, *how)
            grading.session.kill_all()
        return self.report
