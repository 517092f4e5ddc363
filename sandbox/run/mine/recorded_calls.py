"""What upstream's tests call, recorded while they run, and which of it tells a defect."""

import json
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

from sandbox.container.candidate import lay
from sandbox.container.engines.base import Session
from sandbox.grading.cases import servants
from sandbox.grading.cases.answers import Value
from sandbox.grading.cases.calls import Asked, scripts
from sandbox.grading.cases.comparing import Expected, objection
from sandbox.grading.cases.scripts import play
from sandbox.grading.cases.standing import Standing
from sandbox.grading.cases.undamaged import SECONDS, certain
from sandbox.grading.testers import Testers
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.case import CaseFile
from sandbox.model.session import AGENT, Command
from sandbox.run.mine.planted import candidate
from sandbox.tasks.drafts.recorded_case import CASE, case_file
from sandbox.tasks.seeds.mined_repository import MinedRepository

HERE = Path(__file__).parent
PLUGIN = "sandbox.run.mine.call_recorder"
FILES = ("call_recorder.py", "call_values.py")
"""The plugin's own: the only ones of this package that are there where it runs."""
OF_A_TEST = 40
"""Scripts of one test that are tried, the shortest of them and the longest among them."""
KEPT = 12
"""Scripts of a seed."""
LONGEST = 1500
"""Characters of a script."""
QUICK = 0.3
"""Seconds: each grading plays some forty scripts six times."""
HASH_SEEDS = tuple(map(str, range(8)))
"""What depends on the order of a set differs between some of these, and is not recorded."""
GRADINGS = ("1", "2", "3")
"""Draws in each of which a defect has to show."""

Script = tuple[str, ...]
Begin = Callable[[], Session]


@dataclass(frozen=True, slots=True)
class RecordedCalls:
    """Scripts by the tests that they are of, and what each gives without a defect."""

    mined: MinedRepository
    begin: Begin
    by_test: dict[str, tuple[Script, ...]]
    told: dict[Script, Expected]

    def telling(self, files: dict[str, bytes]) -> tuple[Script, ...]:
        """Give those that give something else with these files, up to the line that does so.

        Nothing where other values than the recorded ones do not show the defect each time.
        """
        worktree = self.mined.task().worktree
        with closing(self.begin()) as session:
            lay(candidate(files), session, worktree)
            found = {
                each: self.told[each].lines[: first + 1]
                for each, first in self._differing(session, worktree)
            }
        of_tests = [
            [found[each] for each in some if each in found] for some in self.by_test.values()
        ]
        turns = chain.from_iterable(zip_longest(*of_tests))
        chosen = tuple(dict.fromkeys(tuple(each) for each in turns if each))[:KEPT]
        return chosen if chosen and shows(self.mined, self.begin, files, chosen) else ()

    def _differing(self, session: Session, worktree: str) -> list[tuple[Script, int]]:
        """Give the scripts that differ, and the first line in which each does."""
        every = [*self.told]
        answers = _played(session, worktree, every)
        found = []
        for each, answer in zip(every, answers, strict=True):
            wanted = self.told[each]
            lines = range(1, len(wanted.lines) + 1)
            first = next((n for n in lines if answer and objection(answer, _until(wanted, n))), 0)
            if first:
                found.append((each, first - 1))
        return found


def shows(
    mined: MinedRepository, begin: Begin, files: dict[str, bytes], chosen: Sequence[Script]
) -> bool:
    """Whether other values than those in the scripts tell these files in each of some draws."""
    worktree = mined.task().worktree
    file = CaseFile.model_validate(case_file(chosen), strict=False)
    drawn = [scripts(file, seed)[CASE] for seed in GRADINGS]
    with closing(begin()) as session:
        right = certain(session, worktree, Testers(session), drawn)
    with closing(begin()) as session:
        lay(candidate(files), session, worktree)
        told = [_played(session, worktree, [each.lines for each in some]) for some in drawn]
    return all(
        any(
            not asked.recorded and wanted and answer and objection(answer, wanted)
            for asked, answer, wanted in zip(*each, strict=True)
        )
        for each in zip(drawn, told, right, strict=True)
    )


def recordable(mined: MinedRepository) -> bool:
    """Whether the calls of a repository's tests can be written down."""
    return mined.mining.framework == "pytest"


def record(mined: MinedRepository, begin: Begin) -> RecordedCalls:
    """Run upstream's tests once and write down what they call; play that to know what it gives."""
    worktree = mined.task().worktree
    with closing(begin()) as session:
        by_test = _recorded(mined, session, worktree)
    every = [script for some in by_test.values() for script in some]
    with closing(begin()) as session:
        ground = session, worktree, Testers(session)
        (quick,) = certain(*ground, [_asked(every)], HASH_SEEDS[:1], QUICK)
        some = [each for each, wanted in zip(every, quick, strict=True) if wanted]
        (told,) = certain(*ground, [_asked(some)], HASH_SEEDS)
    known = {each: wanted for each, wanted in zip(some, told, strict=True) if wanted}
    return RecordedCalls(mined, begin, by_test, known)


def _asked(some: Iterable[Script]) -> list[Asked]:
    return [Asked(each, recorded=True) for each in some]


def _recorded(
    mined: MinedRepository, session: Session, worktree: str
) -> dict[str, tuple[Script, ...]]:
    folder = f"/tmp/{secrets.token_hex(6)}"  # noqa: S108 - of the container
    into = f"{folder}/calls.jsonl"
    about = {
        "sources": [f"{worktree}/{source.path}" for source in mined.sources],
        "tests": [f"{worktree}/{test.path}" for test in mined.tests],
        "into": into,
    }
    files = {f"sandbox/run/mine/{name}": (HERE / name).read_bytes() for name in FILES}
    for name, data in {**files, "about": json.dumps(about).encode()}.items():
        session.write(f"{folder}/{name}", data, user=AGENT, parents=True)
    for name, data in mined.folder.shipped.items():
        session.write(f"{worktree}/{name}", data, user=AGENT, parents=True)
    environment = {
        **ENVIRONMENT,
        "RECORDED": f"{folder}/about",
        "PYTHONPATH": folder,
        "PYTEST_ADDOPTS": f"-p {PLUGIN}",
    }
    line = ("/bin/bash", "-c", mined.mining.command)
    seconds = mined.task().task.limits.command_seconds
    session.run(Command(line, cwd=worktree, environment=environment, user=AGENT, timeout=seconds))
    try:
        lines = session.read(into).splitlines()
    except FileNotFoundError:
        return {}
    found = defaultdict[str, set[Script]](set)
    for each in map(json.loads, lines):
        script = tuple(each["lines"])
        if sum(map(len, script)) <= LONGEST:
            found[each["test"]].add(script)
    return {test: _some(every) for test, every in found.items()}


def _some(every: Iterable[Script]) -> tuple[Script, ...]:
    """Choose scripts of all lengths alike, the short ones first."""
    ordered = sorted(every, key=lambda each: (sum(map(len, each)), each))
    return tuple(ordered[:: -(-len(ordered) // OF_A_TEST)])


def _played(session: Session, worktree: str, some: Sequence[Sequence[str]]) -> list[Value | None]:
    testers = Testers(session)
    with servants.laid(session) as folder:
        standing = Standing.apart(session, worktree, testers.new())
        told = play(some, standing, folder, SECONDS)
    return [None if each is None else Value(each) for each in told]


def _until(wanted: Expected, line: int) -> Expected:
    return Expected(wanted.wire[:line], lines=wanted.lines[:line])
