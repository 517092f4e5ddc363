"""Tests that the agent had to write: they fail without its fix and pass with it.

They are the candidate's, so they run last, when every outcome that counts is known, and in the same
way as hidden tests: a process and a user of their own, with canaries. But nothing is locked: who
writes a test can have it say anything, and an honest one may replace what it likes for a while.

Which of the two runs comes first is drawn, and what the first one left is taken away, so that a
test cannot count its runs.
"""

import contextlib
import random
from collections.abc import Callable
from dataclasses import replace

from sandbox.container.candidate import lay
from sandbox.grading import outcomes
from sandbox.grading.frameworks.base import TestFile
from sandbox.grading.processes import Ended, Processes, processes
from sandbox.grading.tested import Tested
from sandbox.model import path_text as paths
from sandbox.model.grade import OwnTests, TestRun
from sandbox.model.session import ROOT, Command

OPEN_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run")  # noqa: S108
"""Folders of the container in which any user may leave something."""


def run_own(wanted: tuple[str, ...], tested: Tested, deadline: float) -> dict[str, OwnTests]:
    """Run each with the candidate and without all else of it; one that is missing has no runs."""
    chance = random.SystemRandom()
    files: dict[str, TestFile] = {}
    found: dict[str, OwnTests] = {}
    for path in wanted:
        if path not in tested.candidate.files:
            continue
        content = tested.candidate.files[path].content
        try:
            files[path] = tested.framework.with_canaries(path, content, chance)
        except ValueError as error:
            unread = TestRun(problem=f"it cannot be read: {error}")
            found[path] = OwnTests(without_fix=unread, with_fix=unread)
    if not files:
        return found
    ways: dict[str, Callable[[], object]] = {
        "with_fix": lambda: lay(tested.candidate, tested.session, tested.place.worktree),
        "without_fix": lambda: tested.before.put_back(but=files),
    }
    _let_write(tested)
    ran: dict[str, dict[str, TestRun]] = {path: {} for path in files}
    for way in chance.sample(sorted(ways), len(ways)):
        ways[way]()
        for path, run in _once(files, tested, deadline).items():
            ran[path][way] = run
    return found | {path: OwnTests.model_validate(runs) for path, runs in ran.items()}


def _let_write(tested: Tested) -> None:
    """Let tests put files of their own beside those of the worktree, as they may at the agent's."""
    worktree = tested.place.worktree
    folders = ("-name", ".git", "-prune", "-o", "-type", "d", "-exec", "/bin/chmod", "o+wt", "{}")
    words = ("/usr/bin/find", worktree, "-xdev", *folders, "+")
    tested.session.run(Command(argv=words, user=ROOT))


def _once(files: dict[str, TestFile], tested: Tested, deadline: float) -> dict[str, TestRun]:
    """Run all files as a user of their own, of whom nothing stays."""
    tester = tested.testers.new()
    place = replace(tested.place, locked=False)
    runner = processes(tested.framework, tested.session, place, tester)
    try:
        return {path: _run(runner, tested, path, file, deadline) for path, file in files.items()}
    finally:
        runner.close()
        tested.session.kill_all()
        number, where = str(tester.user.uid), (*OPEN_FOLDERS, tested.place.worktree)
        words = ("/usr/bin/find", *where, "-xdev", "-user", number, "-delete")
        tested.session.run(Command(argv=words, user=ROOT))
        tested.session.run(Command(argv=("/usr/bin/ipcrm", "--all"), user=tester.user))


def _run(runner: Processes, tested: Tested, path: str, file: TestFile, deadline: float) -> TestRun:
    worktree, raw = tested.place.worktree, paths.raw(path)
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        tested.session.remove(raw, beneath=worktree, user=ROOT)
    tested.session.write(raw, file.source, beneath=worktree, mode=0o444, user=ROOT, parents=True)
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
