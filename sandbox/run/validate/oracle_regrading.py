"""The checks that rest on the oracle's run: its candidate graded again, in part, and the base."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future

from sandbox.model.task import Task
from sandbox.run.validate.candidate_grading import Regraded, Regrading
from sandbox.run.validate.checks import Check, Row, attempted
from sandbox.run.validate.hunks import Hunk
from sandbox.run.validate.pool import Pool
from sandbox.run.validate.proof_rows import base_row, declared_row, gold_row, gradings_row, hunk_row

FROM_ORACLE = frozenset((Check.TESTS, Check.GRADINGS, Check.HUNKS))


def rows(
    pool: Pool, regrading: Regrading, checks: frozenset[Check], gradings: int
) -> Iterator[Row]:
    """Do those of the checks that are chosen; what errs is a row of its own."""
    task, run = regrading.task.task, regrading.folder.id
    hunks = [pool.submit(regrading.hunks)] if Check.HUNKS in checks else []
    tests = [regrading.base, regrading.gold] if Check.TESTS in checks else []
    proofs = [pool.submit(test) for test in tests]
    count = gradings if Check.GRADINGS in checks else 0
    again = [pool.submit(regrading.again) for _ in range(count)]
    for future in hunks:
        yield from _hunks(pool, regrading, future)
    if proofs:
        base, gold = proofs
        yield attempted(
            task.id, Check.TESTS, "without a candidate", lambda: base_row(task, base.result())
        )
        yield attempted(
            task.id, Check.TESTS, "with the oracle's", lambda: gold_row(task, gold.result(), run)
        )
    if again:
        yield attempted(
            task.id, Check.GRADINGS, "oracle, graded again", lambda: _again(task, again, run)
        )


def _again(task: Task, futures: Sequence[Future[Regraded]], run: str) -> Row:
    return gradings_row(task, [future.result() for future in futures], run)


def _hunks(pool: Pool, regrading: Regrading, found: Future[list[Hunk]]) -> Iterator[Row]:
    task = regrading.task.task
    listed: list[Hunk] = []

    def whole() -> Row:
        listed.extend(found.result())
        return declared_row(task, listed)

    yield attempted(task.id, Check.HUNKS, "the oracle's change", whole)
    graded = [(hunk, pool.submit(regrading.without, hunk)) for hunk in listed]
    for hunk, future in graded:
        yield _without(task, hunk, future, regrading.folder.id)


def _without(task: Task, hunk: Hunk, future: Future[Regraded], run: str) -> Row:
    return attempted(
        task.id,
        Check.HUNKS,
        f"oracle without {hunk.name}",
        lambda: hunk_row(task, hunk, future.result(), run),
    )
