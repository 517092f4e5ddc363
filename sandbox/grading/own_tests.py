"""Tests that the agent had to write: they fail without its fix and pass with it.

They are the candidate's, so they run last, when every outcome that counts is known, and in the same
way as hidden tests: a process and a user of their own, with canaries.
"""

import contextlib
import random
from dataclasses import dataclass

from sandbox.container.candidate import Candidate
from sandbox.container.engines.base import Session
from sandbox.grading import outcomes
from sandbox.grading.frameworks.base import Framework, Place, TestFile
from sandbox.grading.processes import Ended, Processes
from sandbox.model import path_text as paths
from sandbox.model.grade import OwnTests, TestRun
from sandbox.model.session import AGENT, ROOT, FileKind

LIMIT = 16 << 20
"""Bytes of one file of the image that is put back."""


@dataclass(frozen=True, slots=True)
class Originals:
    """The image's files that a candidate replaces or removes."""

    content: dict[str, bytes | None]
    """None where there was no file."""

    @classmethod
    def of(cls, session: Session, worktree: str, candidate: Candidate) -> "Originals":
        """Read them, before the candidate is laid down."""
        found: dict[str, bytes | None] = {}
        for path in (*candidate.files, *candidate.deleted):
            found[path] = None
            with contextlib.suppress(OSError):
                if session.stat(paths.raw(path), beneath=worktree).kind is FileKind.FILE:
                    found[path] = session.read(paths.raw(path), beneath=worktree, limit=LIMIT)
        return cls(found)

    def put_back(self, session: Session, worktree: str, but: set[str]) -> None:
        """Undo a candidate, but for some of its files."""
        for path, content in self.content.items():
            if path in but:
                continue
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                session.remove(paths.raw(path), beneath=worktree, user=ROOT)
            if content is not None:
                session.write(paths.raw(path), content, beneath=worktree, user=AGENT, parents=True)


def run_own(
    wanted: tuple[str, ...],
    candidate: Candidate,
    originals: Originals,
    where: tuple[Framework, Session, Place],
    runner: Processes,
    deadline: float,
) -> dict[str, OwnTests]:
    """Run each with the candidate, then without all else of it; one that is missing has no runs."""
    framework, session, place = where
    chance = random.SystemRandom()
    files: dict[str, TestFile] = {}
    found: dict[str, OwnTests] = {}
    for path in wanted:
        if path not in candidate.files:
            continue
        try:
            files[path] = framework.with_canaries(path, candidate.files[path].content, chance)
        except ValueError as error:
            unread = TestRun(problem=f"it cannot be read: {error}")
            found[path] = OwnTests(without_fix=unread, with_fix=unread)
    fixed = {
        path: _run(runner, session, place, path, file, deadline) for path, file in files.items()
    }
    if files:
        originals.put_back(session, place.worktree, but=set(files))
    for path, file in files.items():
        base = _run(runner, session, place, path, file, deadline)
        found[path] = OwnTests(without_fix=base, with_fix=fixed[path])
    return found


def _run(
    runner: Processes, session: Session, place: Place, path: str, file: TestFile, deadline: float
) -> TestRun:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        session.remove(paths.raw(path), beneath=place.worktree, user=ROOT)
    raw = paths.raw(path)
    session.write(raw, file.source, beneath=place.worktree, mode=0o444, user=ROOT, parents=True)
    return _read(runner.run(path, deadline), file)


def _read(ended: Ended, file: TestFile) -> TestRun:
    if ended.problem or ended.cut:
        return TestRun(problem=ended.problem or "there are more outcomes than the runner writes")
    try:
        read = outcomes.read(ended.outcomes, ended.status, file.canaries)
    except (outcomes.Forged, outcomes.Stopped) as error:
        return TestRun(problem=str(error))
    kinds = list(read.values())
    return TestRun(
        passed=kinds.count("passed"), failed=kinds.count("failed") + kinds.count("error")
    )
