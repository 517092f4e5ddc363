"""Seeds from a repository: each defect is tried in fresh containers, thrice if it is kept."""

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from sandbox.container.candidate import lay
from sandbox.container.engines.base import Engine, Session
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.errors import EvidenceError
from sandbox.model.glob import Globs
from sandbox.model.grade import TestReport
from sandbox.model.seed import Seed
from sandbox.model.session import AGENT, Command
from sandbox.run.fresh_session import FreshSession
from sandbox.run.mine.at_once import at_once
from sandbox.run.mine.draw import Defect, candidates, drawn
from sandbox.run.mine.planted import candidate, planted, seed_of
from sandbox.run.mine.recorded_calls import RecordedCalls, record, recordable, shows
from sandbox.run.run_containers import begin
from sandbox.run.stop import Stop
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.seeds.broken_files import described
from sandbox.tasks.seeds.edits import edits_of, replanted
from sandbox.tasks.seeds.mined_repository import MinedRepository
from sandbox.tasks.seeds.mutations import Mutation
from sandbox.tasks.seeds.older_lines import older_lines

RUNS = 3
"""How many runs of the tests have to agree."""
MOST = 0.5
"""Of which share of the tests a defect may be noticed, to be one that has to be looked for."""

LONGEST = 4000
"""Characters of upstream's that a seed may hold, without the defect and with it."""


UNNOTICED = "no test notices it"

Same = tuple[tuple[str, ...], tuple[str, ...], bool]
"""Files, tests that fail, and whether they do so under sanitizers alone."""


@dataclass(frozen=True, slots=True)
class Order:
    """How many seeds are wanted, and of what."""

    count: int
    places: int = 1
    masking: bool = False
    """Whether the places of each are to mask each other."""
    wide: bool = False
    """Whether each is in all calls of one function, `places` of them at least."""
    kinds: tuple[str, ...] = ()
    """Of which kinds alone they are; of all where none is given."""
    number: int = 0
    """What the draw begins with."""
    tries: int = 200
    """How many defects are tried at most."""
    jobs: int = 2


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a defect: a seed, or why it is none."""

    defect: Defect
    seed: Seed | None
    why: str = ""


@dataclass(frozen=True)
class Miner:
    """Tries defects of a repository in containers of its bare image."""

    mined: MinedRepository
    image: BuiltImage
    engine: Engine
    run: str
    """By which `sandbox gc` knows the containers."""
    plain: "Miner | None" = None
    """Under sanitizers: what tries without them, where no test may notice a defect."""
    costs: bool = False
    """Whether a defect is kept only if no other tests notice it than those that count costs."""
    stop: Stop = field(default_factory=Stop)
    """Ends what other threads try, after an interrupt."""

    def under_sanitizers(self) -> "Miner":
        """Give what tries defects there. UsageError where nothing says how."""
        return replace(self, mined=self.mined.under_sanitizers(), plain=self)

    def by_costs(self) -> "Miner":
        """Give what keeps a defect only for its costs. UsageError where nothing counts them."""
        self.mined.folder.require_costs()
        return replace(self, costs=True)

    def baseline(self) -> frozenset[str]:
        """Give the tests that pass without a defect, each of three times.

        EvidenceError where they do not run, or none does, or where an agent sees some fail; raises
        as `run_tests` does.
        """
        name = self.mined.repository.name
        reports = [self._tested({}) for _ in range(RUNS)]
        problem = next((report.problem for report in reports if report.problem), "")
        passing = frozenset.intersection(*map(_passing, reports))
        passing = passing.difference(self.mined.mining.unsteady)
        if problem or not passing:
            raise EvidenceError(
                f"The tests of {name} do not run as they are: {problem or 'none of them passes'}",
                f"Leave them out by `without` in {name}/mining.yaml; nothing was mined.",
            )
        if ended := self._ended({}):
            raise EvidenceError(
                f"An agent would see the tests of {name} fail as they are: `command` ends with"
                f" {ended}.",
                f"Leave out by `command` in {name}/mining.yaml what cannot pass in a checkout;"
                " nothing was mined.",
            )
        return passing

    def tried(self, order: Order, passing: frozenset[str]) -> Iterator[Tried]:
        """Try defects in the order in which they are drawn, until there are enough seeds."""
        kept = {same(seed) for seed in self.mined.folder.seeds.seeds}
        drawn_ones = drawn(candidates(self.mined, order.kinds), order.places, order.number)
        defects = itertools.islice(drawn_ones, order.tries)
        left = order.count
        work = partial(self._try, passing)
        while some := list(itertools.islice(defects, order.jobs)):
            for tried in at_once(self.stop, order.jobs, work, some):
                if left == 0:
                    return
                if tried.seed is None:
                    yield tried
                elif same(tried.seed) in kept:
                    yield Tried(tried.defect, None, "another seed is the same defect")
                else:
                    kept.add(same(tried.seed))
                    left -= 1
                    yield tried

    def holds(self, seed: Seed, passing: frozenset[str]) -> str:
        """Say what is no longer true of a stored seed; empty where all is. Raises as `baseline`."""
        files = replanted(self.mined, seed)
        failing, why = self._noticed(files, passing)
        if not why and failing != sorted(seed.fail_to_pass):
            why = f"{len(failing)} tests fail, where {len(seed.fail_to_pass)} are written down"
        if not why and seed.older != older_lines(self.mined, seed.edits):
            why = "its lines stand in other older releases than `older` says"
        if not why and seed.masking and (shown := self.shown(seed, passing)):
            why = f"its places do not mask each other: {shown}"
        if not why and seed.calls and not shows(self.mined, self.begun, files, seed.calls):
            why = "its recorded calls do not show it"
        return why

    @cached_property
    def calls(self) -> RecordedCalls | None:
        """What upstream's tests call; None where that cannot be recorded."""
        return record(self.mined, self.begun) if recordable(self.mined) else None

    def with_calls(self, seed: Seed) -> Seed:
        """Give a seed with the recorded calls that tell it from the release."""
        if self.calls is None:
            return seed
        calls = self.calls.telling(replanted(self.mined, seed))
        return seed.model_copy(update={"calls": calls})

    def shown(self, seed: Seed, passing: frozenset[str]) -> str:
        """Say which place of several shows when it alone is mended; empty where none does."""
        for edit in seed.edits:
            others = tuple(each for each in seed.edits if each is not edit)
            rest = replanted(self.mined, seed.model_copy(update={"edits": others}))
            failing, why = self.failing(rest, passing)
            if why or failing != sorted(seed.fail_to_pass):
                return f"{edit.path}, line {edit.line}"
        return ""

    def by_hand(self, files: dict[str, bytes], passing: frozenset[str]) -> Tried:
        """Try a defect that somebody made."""
        defect = described(self.mined, files)
        failing, why = self._noticed(files, passing)
        if why:
            return Tried(defect, None, why)
        return Tried(defect, seed_of(self.mined, defect, files, failing, len(passing)))

    def _try(self, passing: frozenset[str], defect: Defect) -> Tried:
        if len(defect) > 1 and not all(self.matters(part, passing) for part in defect):
            return Tried(defect, None, "one of its places is not noticed for itself")
        return self.whole(defect, passing)

    def planted(self, defect: Defect) -> dict[str, bytes] | str:
        """Give the changed files; or why they are of no use."""
        files = planted(self.mined, defect)
        if files is None:
            return "it changes nothing, or breaks the syntax"
        if sum(len(edit.before + edit.after) for edit in edits_of(self.mined, files)) > LONGEST:
            return "its lines are too long to be written down"
        return files

    def whole(self, defect: Defect, passing: frozenset[str]) -> Tried:
        """Try a defect of which each place is known to be noticed for itself. As `baseline`."""
        files = self.planted(defect)
        if isinstance(files, str):
            return Tried(defect, None, files)
        failing, why = self._noticed(files, passing)
        if why:
            return Tried(defect, None, why)
        return Tried(defect, seed_of(self.mined, defect, files, failing, len(passing)))

    def matters(self, part: Mutation, passing: frozenset[str]) -> bool:
        """Whether a fix that leaves this part of a defect out would be noticed."""
        files = planted(self.mined, (part,))
        if files is None:
            return False
        report = self._tested(files)
        return any(report.outcomes.get(test) == "failed" for test in passing)

    def _noticed(self, files: dict[str, bytes], passing: frozenset[str]) -> tuple[list[str], str]:
        """Give the tests that fail with changed files, each time the same ones; or why not."""
        if self.plain and self.plain.failing(files, passing)[1] != UNNOTICED:
            return [], "tests notice it without sanitizers"
        found: list[str] = []
        for number in range(RUNS):
            failing, why = self.failing(files, passing)
            if number and failing != found:
                return [], "the tests do not agree"
            if why:
                return [], why
            found = failing
        return found, self._unseen(files)

    def failing(self, files: dict[str, bytes], passing: frozenset[str]) -> tuple[list[str], str]:
        """Run the tests once with changed files; give those that fail, or why that tells nothing.

        Raises as `run_tests` does.
        """
        report = self._tested(files)
        failing = sorted(test for test in passing if report.outcomes.get(test) == "failed")
        if report.problem:
            return [], f"the tests do not end: {report.problem.splitlines()[0]}"
        if any(report.outcomes.get(test) not in ("passed", "failed") for test in passing):
            return [], "tests can no longer be loaded, or break outside of themselves"
        if not failing:
            return [], UNNOTICED
        if self.costs and any(not self._counts(test) for test in failing):
            return [], "tests notice it that do not count what calls cost"
        if len(failing) > MOST * len(passing):
            return [], "most tests notice it"
        return failing, ""

    def _counts(self, test: str) -> bool:
        return Globs(self.mined.mining.costs).match(test.partition("::")[0])

    def _unseen(self, files: dict[str, bytes]) -> str:
        """Say why an agent that runs the tests would not see them fail; empty where it would."""
        ended, failing = self._ended(files), self.mined.mining.failing_exit_code
        return "" if ended == failing else f"its `command` ends with {ended}, not with {failing}"

    def _ended(self, files: dict[str, bytes]) -> int | None:
        """Run the tests with changed files as an agent does; give how they end."""
        task = self.mined.task()
        with self.begun() as session:
            lay(candidate({**self.mined.folder.shipped, **files}), session, task.worktree)
            line = Command(
                ("/bin/bash", "-c", self.mined.mining.command),
                cwd=task.worktree,
                environment=ENVIRONMENT,
                user=AGENT,
                timeout=task.task.limits.command_seconds,
            )
            return session.run(line).exit_code

    def _tested(self, files: dict[str, bytes]) -> TestReport:
        task = self.mined.task()
        with (
            ThreadPoolExecutor(1) as pool,
            FreshSession(task, self.begun, pool, early=False) as fresh,
        ):
            return fresh.tested(candidate(files))

    def begun(self) -> Session:
        """Start a container of its image."""
        return begin(self.stop.engine(self.engine), self.mined.task(), self.image, self.run)


def _passing(report: TestReport) -> frozenset[str]:
    return frozenset(test for test, outcome in report.outcomes.items() if outcome == "passed")


def same(seed: Seed) -> Same:
    """Two seeds that the same tests notice in the same files are one defect."""
    return tuple(sorted({edit.path for edit in seed.edits})), seed.fail_to_pass, seed.sanitized
