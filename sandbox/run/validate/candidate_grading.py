"""The oracle's run, graded in fresh containers: as it is, in part, or without any candidate."""

from dataclasses import dataclass

from sandbox.container import candidate as candidates
from sandbox.container.candidate import Candidate
from sandbox.container.engines.base import Engine, Session
from sandbox.grading.grading_session import GradingSession
from sandbox.grading.hidden import run_tests
from sandbox.grading.proof import Proof, base_report, gold_report
from sandbox.grading.verdict import grade
from sandbox.model import path_text as paths
from sandbox.model.change import ChangeSet
from sandbox.model.errors import EvidenceError
from sandbox.model.grade import RunGrade, TestReport
from sandbox.model.run_folder import RunFolder
from sandbox.run.run_containers import begin
from sandbox.run.stored_evidence import evidence_of
from sandbox.run.validate import hunks
from sandbox.run.validate.hunks import Hunk
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask


@dataclass(frozen=True, slots=True)
class Regraded:
    """What came of a grading."""

    tests: TestReport
    grade: RunGrade


@dataclass(frozen=True, slots=True)
class Regrading:
    """A stored run. Raises what `run_tests` and `evidence_of` raise."""

    task: LoadedTask
    image: BuiltImage
    folder: RunFolder

    def base(self, engine: Engine) -> Proof:
        """Run the hidden tests on what the image holds."""
        with self._session(engine) as session:
            return base_report(self.task, session)

    def gold(self, engine: Engine) -> Proof:
        """Run the hidden tests on the run's candidate."""
        with self._session(engine) as session:
            return gold_report(self.task, session, candidates.unpack(self.folder.candidate))

    def again(self, engine: Engine) -> Regraded:
        """Grade the run as it was graded."""
        return self._graded(engine, candidates.unpack(self.folder.candidate), self._changes())

    def hunks(self, engine: Engine) -> list[Hunk]:
        """Give the parts of the run's change."""
        candidate = candidates.unpack(self.folder.candidate)
        with self._session(engine) as session:

            def original(path: str) -> bytes | None:
                try:
                    return session.read(paths.raw(path), beneath=self.task.worktree, follow=False)
                except FileNotFoundError:
                    return None

            return list(hunks.hunks(candidate, self._changes(), self.task.worktree, original))

    def without(self, engine: Engine, hunk: Hunk) -> Regraded:
        """Grade the run as if a part of its change had never been written."""
        return self._graded(
            engine,
            hunks.leave_out(candidates.unpack(self.folder.candidate), hunk),
            hunks.changes_without(self._changes(), hunk, self.task.worktree),
        )

    def _graded(self, engine: Engine, candidate: Candidate, changes: ChangeSet) -> Regraded:
        with self._session(engine) as session:
            report = run_tests(GradingSession.prepare(self.task, session), candidate)
        evidence = evidence_of(self.folder, self.task)
        update = {"tests": report, "changes": changes}
        return Regraded(report, grade(self.task.task, evidence.model_copy(update=update)))

    def _changes(self) -> ChangeSet:
        changes = evidence_of(self.folder, self.task).changes
        if changes is None:
            raise EvidenceError(f"{self.folder.id} has no change set.", "Run the task again.")
        return changes

    def _session(self, engine: Engine) -> Session:
        """Start a container that nobody has used."""
        return begin(engine, self.task, self.image, self.folder.id)
