"""The hidden tests, run in a fresh session on the candidate's files.

Tests, runner and configuration belong to root, cannot be written and come last. Each test file has
a process, a user and a temporary folder of its own; the supervisor starts it, its outcomes go
straight to the host, and what it leaves running is killed. In each file stand tests that have to
fail, and one file, nobody knows which, is run once more with all its tests made to fail. The
candidate is imported by the very process that judges it all the same: this is hardened, not
forgery-proof (see `docs/grading.md`).
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.container.candidate import Candidate, lay
from sandbox.container.changes.patch import safe
from sandbox.container.engines.base import Session
from sandbox.grading.cases import Ground, at_a_shell, run_at_a_shell, run_cases
from sandbox.grading.cases.calls import Undamaged, scripts
from sandbox.grading.cases.case_builds import Built, build
from sandbox.grading.cases.undamaged import expected
from sandbox.grading.file_runs import broken, run_files
from sandbox.grading.files import Files
from sandbox.grading.frameworks import framework_of
from sandbox.grading.frameworks.base import Framework, Place
from sandbox.grading.scripts import run_script
from sandbox.grading.tested import Tested
from sandbox.grading.testers import Testers, drawn_folder, open_up
from sandbox.model import path_text as paths
from sandbox.model.errors import DocumentError
from sandbox.model.grade import CaseReport, TestReport
from sandbox.model.session import ROOT, Command
from sandbox.tasks.library import LoadedTask


def run_tests(
    task: LoadedTask, session: Session, candidate: Candidate, seed: str | None = None
) -> TestReport:
    """Lay the candidate and the hidden tests into a session that nobody used, and run them.

    Cases come first, when no test is there yet. Their inputs are drawn from `seed`, itself drawn
    where none is given, and it stands in the report. What the candidate breaks is in there too.
    Raises EngineError and its kind where the session breaks, DocumentError where the task's hidden
    files or cases cannot be used.
    """
    framework = framework_of(task.task.tests)
    hidden = hidden_files(task)
    graded = graded_files(task, framework) if framework else set()
    own = Candidate(
        {path: file for path, file in candidate.files.items() if path not in graded},
        tuple(path for path in candidate.deleted if path not in graded),
        candidate.refused,
    )
    testers = Testers(session)
    cases = _Cases(task, session, testers, seed or secrets.token_hex(16))
    cases.ask_the_undamaged()
    before = Files.of(session, task.worktree, (*own.files, *own.deleted))
    failed = lay(own, session, task.worktree)
    if failed:
        path, why = next(iter(failed.items()))
        return broken(f"the candidate does not fit the repository: {safe(path)}: {why}")
    if (script := task.task.tests.script) is not None:
        return run_script(task, session, hidden, script)
    place = Place(drawn_folder(), task.worktree, frozenset(hidden), frozenset(own.files))
    open_up(session, task.worktree)
    cases.apart()
    tests = sorted(graded | {path for path in hidden if framework and framework.is_test_file(path)})
    if framework is None or not tests:
        return TestReport(outcomes={}, cases=cases.at_a_shell())
    there = Files.of(session, task.worktree, {*hidden, *tests})
    tested = Tested(session, framework, place, testers, own, before)
    report = run_files(task, tested, hidden, tests)
    if not report.problem:
        _tidy(session, place, testers)
        there.put_back()
        if task.task.tests.own:
            lay(own, session, task.worktree)
        cases.at_a_shell()
    return report.model_copy(update={"cases": cases.report})


@dataclass(slots=True)
class _Cases:
    """The cases of a task, before its tests and after."""

    task: LoadedTask
    session: Session
    testers: Testers
    seed: str
    report: CaseReport | None = None
    built: Built = field(default_factory=Built)
    _undamaged: dict[str, Undamaged] = field(default_factory=dict)
    """By the seed of a round."""

    def ask_the_undamaged(self) -> None:
        """Find what scripts have to give, while nothing of a candidate is there yet."""
        declared, file = self.task.task.tests.cases, self.task.cases
        if declared is None or declared.undamaged is None or file is None:
            return
        open_up(self.session, self.task.worktree)
        patch = self.task.folder / declared.undamaged
        asked = {
            (seed, case): each
            for seed in (self.seed, at_a_shell(self.seed))
            for case, each in scripts(file, seed).items()
        }
        told = expected(self.session, self.task.worktree, patch, [*asked.values()])
        for (seed, case), group in zip(asked, told, strict=True):
            of_round = self._undamaged.setdefault(seed, {})
            of_round.update({(case, number): each for number, each in enumerate(group)})

    def apart(self) -> None:
        """Build, and call everything as users who can touch nothing else."""
        declared = self.task.task.tests.cases
        if declared is None or self.task.cases is None:
            return
        if declared.build is not None:
            where = (self.session, self.task.worktree, self.testers)
            self.built = build(declared.build, self.task.folder, *where)
        undamaged = self._undamaged.get(self.seed)
        how = (self._reference, self.seed, self._ground, self.built, undamaged)
        self.report = run_cases(self.task.cases, *how)
        self.session.kill_all()

    def at_a_shell(self) -> CaseReport | None:
        """Call it once more as the agent would; nothing else is judged afterwards."""
        if self.report is not None and self.task.cases is not None:
            undamaged = self._undamaged.get(at_a_shell(self.seed))
            how = (self._reference, self.report, self._ground, self.built, undamaged)
            self.report = run_at_a_shell(self.task.cases, *how)
            self.session.kill_all()
        return self.report

    @property
    def _reference(self) -> Path | None:
        declared = self.task.task.tests.cases
        named = None if declared is None else declared.reference
        return None if named is None else self.task.folder / named

    @property
    def _ground(self) -> Ground:
        cpus = self.task.task.limits.cpus
        return Ground(self.session, self.task.worktree, self.testers, cpus)


def _tidy(session: Session, place: Place, testers: Testers) -> None:
    """Take away what is the grader's own, but for what was built."""
    session.run(Command(argv=("/bin/rm", "-rf", "--", place.folder, *testers.emptied()), user=ROOT))


def hidden_files(task: LoadedTask) -> dict[str, bytes]:
    """Read the task's hidden files, by path from the worktree on; DocumentError."""
    top = task.task.tests.hidden
    return {} if top is None else dict(_hidden(task.folder / top))


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


def graded_files(task: LoadedTask, framework: Framework) -> set[str]:
    """Give the files that the expected tests are in: they never come from a candidate."""
    tests = task.task.tests
    return {framework.file_of(test) for test in tests.fail_to_pass + tests.pass_to_pass}
