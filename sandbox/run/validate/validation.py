"""All checks of some tasks."""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from sandbox.container.engines.base import Engine
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.run.validate import image_leaks, oracle_regrading, pins
from sandbox.run.validate.agent_runs import Key, Ran, Runner, no_oracle, order_row
from sandbox.run.validate.candidate_grading import Regrading
from sandbox.run.validate.cases import ORACLE, Case
from sandbox.run.validate.checks import Check, Row, attempted
from sandbox.run.validate.fresh_session import Look, facts_row, looking, reset_row
from sandbox.run.validate.pool import Pool
from sandbox.run.validate.rebuilt_worktree import rebuilt, rebuilt_row
from sandbox.run.validate.shared_outcomes import SharedOutcomes
from sandbox.run.validate.subject import REWORDED, Subject, in_order
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask

LOOKED = frozenset((Check.FACTS, Check.RESET))


@dataclass(frozen=True, slots=True)
class Options:
    """What is proved, and how thoroughly."""

    checks: frozenset[Check]
    at_once: int
    """Runs or gradings at the same time."""
    seeds: int = 3
    """Random agents of each task."""
    gradings: int = 3
    """How often the oracle's candidate is graded again."""
    share: bool = True
    """Whether candidates that are the same are tested once."""
    rewordings: int | None = REWORDED
    """Rewordings that each agent but the oracle is tried in; None is all."""


class Validation:
    """The checks of some tasks; `run` does them once."""

    def __init__(
        self,
        loaded: Sequence[tuple[LoadedTask, BuiltImage]],
        engine: Engine,
        store: Store,
        options: Options,
    ) -> None:
        self._options = options
        self._engine = engine
        self._store = store
        self._subjects = {
            task.task.id: Subject.of(task, image, options.checks, options.seeds, options.rewordings)
            for task, image in loaded
        }
        self._runner = Runner(self._subjects, engine, store)
        self._label = f"{secrets.token_hex(4)}-validate"

    def run(self, tell: Callable[[str], None]) -> list[Row]:
        """Return the rows by task and check; `tell` gets what is being done."""
        checks, at_once = self._options.checks, self._options.at_once
        subjects = self._subjects.values()
        rows = [row for subject in subjects for row in self._without_runs(subject)]
        tell("looking at fresh sessions")
        first = self._looks() if checks & LOOKED else {}
        keys = [(subject.id, agent) for subject in subjects for agent in subject.cases]
        shared = SharedOutcomes() if self._options.share else None
        ran = self._runner.run(keys, at_once, tell, shared=shared)
        rows += [self._runner.row(key, ran[key]) for key in keys if self._case(key).check in checks]
        tell("grading the oracle's candidates again")
        with Pool(self._engine, at_once) as pool:
            for subject in subjects:
                rows += self._again(pool, subject, ran)
                rows += self._rebuilt(pool, subject)
        rows += self._in_another_order(keys, ran, tell)
        tell("looking at fresh sessions")
        last = self._looks() if Check.RESET in checks else {}
        rows += [row for subject in subjects for row in self._seen(subject, first, last)]
        tasks, order = list(self._subjects), list(Check)
        return sorted(rows, key=lambda row: (tasks.index(row.task), order.index(row.check)))

    def _case(self, key: Key) -> Case:
        return self._subjects[key[0]].cases[key[1]]

    def _without_runs(self, subject: Subject) -> Iterator[Row]:
        yield from subject.rows(self._options.checks)
        if Check.PINS in self._options.checks:
            yield from pins.rows(subject.loaded, subject.image, self._engine)
        if Check.LEAKS in self._options.checks:
            look = partial(image_leaks.row, subject.loaded, subject.image, self._engine)
            yield attempted(subject.id, Check.LEAKS, "the image", look)

    def _looks(self) -> dict[str, Future[Look]]:
        with Pool(self._engine, self._options.at_once) as pool:
            return {
                subject.id: pool.submit(looking, subject.loaded, subject.image, self._label)
                for subject in self._subjects.values()
            }

    def _seen(
        self, subject: Subject, first: Mapping[str, Future[Look]], last: Mapping[str, Future[Look]]
    ) -> Iterator[Row]:
        task = subject.loaded.task
        if Check.FACTS in self._options.checks:
            yield attempted(
                task.id, Check.FACTS, "facts", lambda: facts_row(task, first[task.id].result())
            )
        if Check.RESET in self._options.checks:
            yield attempted(
                task.id,
                Check.RESET,
                "fresh sessions",
                lambda: reset_row(task, first[task.id].result(), last[task.id].result()),
            )

    def _again(self, pool: Pool, subject: Subject, ran: Mapping[Key, Ran]) -> Iterator[Row]:
        chosen = self._options.checks & oracle_regrading.FROM_ORACLE
        if not chosen:
            return
        oracle = ran[subject.id, ORACLE]
        if oracle.grade is None or oracle.grade.verdict is not Verdict.PASSED:
            for check in sorted(chosen):
                yield no_oracle(subject.id, check, oracle)
            return
        folder = self._store.folder(oracle.grade.run)
        regrading = Regrading(subject.loaded, subject.image, folder)
        yield from oracle_regrading.rows(pool, regrading, chosen, self._options.gradings)

    def _rebuilt(self, pool: Pool, subject: Subject) -> Iterator[Row]:
        if Check.RESET in self._options.checks:
            work = pool.submit(rebuilt, subject.loaded, subject.image, self._label)
            task = subject.loaded.task
            yield attempted(
                task.id, Check.RESET, "the worktree", lambda: rebuilt_row(task, work.result())
            )

    def _in_another_order(
        self, keys: Sequence[Key], ran: Mapping[Key, Ran], tell: Callable[[str], None]
    ) -> Iterator[Row]:
        """Run the agents backwards, fewer at once, and test each candidate anew."""
        if Check.ORDER not in self._options.checks:
            return
        at_once = max(1, self._options.at_once - 1)
        keys = [key for key in reversed(keys) if in_order(self._case(key))]
        second = self._runner.run(keys, at_once, tell, trial=2)
        for task in self._subjects:
            mine = {agent: each for (name, agent), each in second.items() if name == task}
            before = {agent: ran[task, agent] for agent in mine}
            yield order_row(task, before, mine, f"backwards, {at_once} at once")
