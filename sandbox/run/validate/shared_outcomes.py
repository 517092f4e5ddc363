"""Test outcomes that candidates which are the same have in common.

Nothing but the candidate is there when the tests run in their container, so the agents that
leave the same candidate behind have the same outcomes, up to chance. Chance is what the repeated
gradings are for, and the runs in another order are tested afresh and compared with what was shared.
"""

import hashlib
import threading
from collections import defaultdict

from sandbox.container.candidate import Candidate
from sandbox.model.grade import TestReport
from sandbox.run.trial import Tester, Tests
from sandbox.tasks.library import LoadedTask

Key = tuple[str, str, str]
"""Digests of the task, the image and the candidate."""


class SharedOutcomes:
    """The outcomes of one validation, in memory alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: defaultdict[Key, threading.Lock] = defaultdict(threading.Lock)
        self._known: dict[Key, TestReport] = {}

    def tester(self, image: str) -> Tester:
        """Make the tester of trials in an image, named by its content digest."""

        def test(task: LoadedTask, candidate: Candidate, tests: Tests, run: str) -> TestReport:
            key = task.digest, image, candidate_digest(candidate)
            with self._lock:
                turn = self._turns[key]
            with turn:
                if key in self._known:
                    return self._known[key]
                report = tests()
                if not _problem(report):
                    self._known[key] = report.model_copy(update={"shared_with": run})
                return report

        return test


def candidate_digest(candidate: Candidate) -> str:
    """SHA-256 over all of a candidate that is laid into a container."""
    digest = hashlib.sha256()
    for path in candidate.deleted:
        digest.update(f"deleted\0{path}\0".encode("utf-8", "surrogateescape"))
    for path, file in sorted(candidate.files.items()):
        content = hashlib.sha256(file.content).hexdigest()
        line = f"file\0{path}\0{file.executable:d}\0{content}\0"
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _problem(report: TestReport) -> bool:
    """Whether outcomes cannot be relied on; such are not shared."""
    return bool(report.problem or (report.cases and report.cases.problem))
