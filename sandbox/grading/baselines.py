"""Baselines: measured runs under a name, and the drift of later runs from them.

runs/baselines/<name>.json
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from sandbox.grading.metrics.intervals import LEVEL
from sandbox.grading.reports import comparison
from sandbox.model.baseline import Baseline, Cause, Delta, Drift, World
from sandbox.model.errors import StoreError, UsageError
from sandbox.model.report import Difference, RunMetrics
from sandbox.model.store import Store, write_whole
from sandbox.model.version import VERSION

FOLDER = "baselines"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def pin(store: Store, name: str, runs: Sequence[RunMetrics]) -> Path:
    """Store runs under a name; UsageError for a name that is taken, or is none."""
    path = _path(store, name)
    if path.exists():
        raise UsageError(
            f"There is a baseline {name} already, and it is left as it is.",
            f"Choose another name, or delete {path} first.",
        )
    graded = tuple(run for run in runs if run.verdict is not None)
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    made = Baseline(name=name, pinned=moment, sandbox_version=VERSION, runs=graded)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, made.model_dump_json(indent=1).encode() + b"\n")
    return path


def find(store: Store, name: str) -> Baseline:
    """Read a baseline; UsageError where there is none, StoreError where it is damaged."""
    path = _path(store, name)
    try:
        return Baseline.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        known = ", ".join(names(store))
        raise UsageError(
            f"There is no baseline {name}.",
            f"There are: {known}." if known else "`sandbox baseline pin NAME` makes one.",
        ) from error
    except (OSError, ValidationError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error


def names(store: Store) -> list[str]:
    """Name the baselines of a store."""
    return sorted(path.stem for path in (store.root / FOLDER).glob("*.json"))


def drift(then: Baseline, runs: Sequence[RunMetrics], canary: str) -> Drift:
    """Compare each agent with itself; UsageError where no agent has runs then and now."""
    now = [run for run in runs if run.verdict is not None]
    others = _other_tasks(then.runs, now)
    before = [run for run in then.runs if run.task not in others]
    after = [run for run in now if run.task not in others]
    old, new = ({run.agent for run in side} for side in (before, after))
    both = sorted(old & new)
    differences = {agent: found for agent in both if (found := _difference(agent, before, after))}
    if not differences:
        raise UsageError(
            f"No agent has graded runs of one task both in the baseline {then.name} and now.",
            "`sandbox report` lists what there is now.",
        )
    watched = differences.get(canary)
    world: World = "unknown"
    if watched is not None:
        # It always does the same, so that any difference is the world's doing.
        world = "same" if watched.difference == 0 else "changed"
    return Drift(
        baseline=then.name,
        canary=canary if watched else "",
        world=world,
        deltas=tuple(
            Delta(
                agent=agent,
                difference=found,
                changed=_changed(found),
                cause=_cause(found, world, is_canary=agent == canary),
                then_crashed=_crashed(before, agent),
                now_crashed=_crashed(after, agent),
            )
            for agent, found in differences.items()
        ),
        other_tasks=tuple(sorted(others)),
        gone=tuple(sorted(old - new)),
        new=tuple(sorted(new - old)),
    )


def _difference(
    agent: str, before: Iterable[RunMetrics], after: Iterable[RunMetrics]
) -> Difference | None:
    """Compare an agent now (A) with the same then (B); None where no task has graded runs twice."""
    labelled = [
        run.model_copy(update={"agent": when})
        for when, side in (("now", after), ("then", before))
        for run in side
        if run.agent == agent
    ]
    try:
        return comparison(labelled, "now", "then").whole
    except UsageError:
        return None


def _changed(found: Difference) -> bool:
    """Whether a difference is more than chance: its interval leaves 0 out, or its p is small."""
    if found.interval is not None:
        return not found.interval.low <= 0 <= found.interval.high
    return found.p_value is not None and found.p_value <= 1 - LEVEL


def _cause(found: Difference, world: World, *, is_canary: bool) -> Cause:
    if is_canary:
        return "world" if world == "changed" else "nothing"
    if not _changed(found):
        return "nothing"
    causes: dict[World, Cause] = {"same": "agent", "changed": "world", "unknown": "unknown"}
    return causes[world]


def _other_tasks(then: Iterable[RunMetrics], now: Iterable[RunMetrics]) -> set[str]:
    """Name the tasks whose files are not what they were."""
    old, new = _digests(then), _digests(now)
    return {task for task in old.keys() & new.keys() if old[task] != new[task]}


def _digests(runs: Iterable[RunMetrics]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for run in runs:
        found.setdefault(run.task, set()).add(run.task_digest)
    return found


def _crashed(runs: Iterable[RunMetrics], agent: str) -> int:
    return sum(run.crashed for run in runs if run.agent == agent)


def _path(store: Store, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot name a baseline.", "Use letters, digits, `.` and `-`.")
    return store.root / FOLDER / f"{name}.json"
