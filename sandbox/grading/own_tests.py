"""Tests that the agent had to write: they fail without its fix and pass with it.

They are the candidate's, so they run last, when every outcome that counts is known, and in the same
way as hidden tests: a process and a user of their own, with canaries. Which of the two runs comes
first is drawn, and what the first one left is taken away, so that a test cannot count its runs.
"""

import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.container.candidate import Candidate, lay
from sandbox.container.engines.base import Session
from sandbox.grading import outcomes
from sandbox.grading.files import Files
from sandbox.grading.frameworks.base import Framework, Place, TestFile
from sandbox.grading.processes import Ended, Processes, processes
from sandbox.grading.testers import Testers
from sandbox.model import path_text as paths
from sandbox.model.grade import OwnTests, TestRun
from sandbox.model.session import ROOT, Command

OPEN_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run")  # noqa: S108
"""Folders of the container in which any user may leave something."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Where the tests are run."""

    session: Session
    framework: Framework
    place: Place
    testers: Testers
    candidate: Candidate
    before: Files
    """What stood where the candidate lies now."""


def run_own(wanted: tuple[str, ...], ground: Ground, deadline: float) -> dict[str, OwnTests]:
    """Run each with the candidate and without all else of it; one that is missing has no runs."""
    chance = random.SystemRandom()
    files: dict[str, TestFile] = {}
    found: dict[str, OwnTests] = {}
    for path in wanted:
        if path not in ground.candidate.files:
            continue
        content = ground.candidate.files[path].content
        try:
            files[path] = ground.framework.with_canaries(path, content, chance)
        except ValueError as error:
            unread = TestRun(problem=f"it cannot be read: {error}")
            found[path] = OwnTests(without_fix=unread, with_fix=unread)
    if not files:
        return found
    ways: dict[str, Callable[[], object]] = {
        "with_fix": lambda: lay(ground.candidate, ground.session, ground.place.worktree),
        "without_fix": lambda: ground.before.put_back(but=files),
    }
    ran: dict[str, dict[str, TestRun]] = {path: {} for path in files}
    for way in chance.sample(sorted(ways), len(ways)):
        ways[way]()
        for path, run in _once(files, ground, deadline).items():
            ran[path][way] = run
    return found | {path: OwnTests.model_validate(runs) for path, runs in ran.items()}


def _once(files: dict[str, TestFile], ground: Ground, deadline: float) -> dict[str, TestRun]:
    """Run all files as a user of their own, of whom nothing stays."""
    tester = ground.testers.new()
    runner = processes(ground.framework, ground.session, ground.place, tester)
    try:
        return {path: _run(runner, ground, path, file, deadline) for path, file in files.items()}
    finally:
        runner.close()
        ground.session.kill_all()
        number = str(tester.user.uid)
        words = ("/usr/bin/find", *OPEN_FOLDERS, "-xdev", "-user", number, "-delete")
        ground.session.run(Command(argv=words, user=ROOT))
        ground.session.run(Command(argv=("/usr/bin/ipcrm", "--all"), user=tester.user))


def _run(runner: Processes, ground: Ground, path: str, file: TestFile, deadline: float) -> TestRun:
    worktree, raw = ground.place.worktree, paths.raw(path)
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        ground.session.remove(raw, beneath=worktree, user=ROOT)
    ground.session.write(raw, file.source, beneath=worktree, mode=0o444, user=ROOT, parents=True)
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
