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
from sandbox.model.run_folder import write_whole
from sandbox.model.store import Store
from sandbox.model.version import VERSION

FOLDER = "baselines"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def pin(store: Store, name: str, runs: Sequence[RunMetrics]) -> Path:
    """Store runs under a name; UsageError for a name that is taken, or is none."""
    path = file_of(store, name)
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
    path = file_of(store, name)
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
    found = (path.stem for path in (store.root / FOLDER).glob("*.json"))
    return sorted(name for name in found if _NAME.fullmatch(name))


def drift(then: Baseline, runs: Sequence[RunMetrics], canary: str) -> Drift:
    """Compare each agent with itself; UsageError where no agent has runs then and now.

    Runs of the baseline are not runs of now, though they may still be stored. Versions of an agent
    are the same agent here: whether it has changed is what is asked.
    """
    pinned = {run.run for run in then.runs}
    old = [_plain(run) for run in then.runs if run.graded]
    new = [_plain(run) for run in runs if run.graded and run.run not in pinned]
    others = _other_tasks(old, new)
    before = [run for run in old if run.task not in others]
    after = [run for run in new if run.task not in others]
    known, ours = ({run.agent for run in side} for side in (old, new))
    differences = {
        agent: found
        for agent in sorted(known & ours)
        if (found := _difference(agent, before, after))
    }
    if not differences:
        raise UsageError(
            f"No agent has graded runs of one task both in the baseline {then.name} and now.",
            "`sandbox report` lists what there is now.",
        )
    watched = _World(canary, before, after)
    return Drift(
        baseline=then.name,
        canary=canary if watched.tasks else "",
        world=watched.state,
        deltas=tuple(
            Delta(
                agent=agent,
                difference=found,
                changed=_changed(found),
                cause=watched.cause(agent, found, _common(agent, before, after)),
                then_crashed=_crashed(then.runs, agent),
                now_crashed=_crashed([run for run in runs if run.run not in pinned], agent),
            )
            for agent, found in differences.items()
        ),
        other_tasks=tuple(sorted(others)),
        gone=tuple(sorted(known - ours)),
        new=tuple(sorted(ours - known)),
    )


class _World:
    """What the canary tells: it always does the same, so any difference is the world's doing."""

    def __init__(
        self, canary: str, before: Sequence[RunMetrics], after: Sequence[RunMetrics]
    ) -> None:
        self._canary = canary
        self.tasks = _common(canary, before, after)
        then, now = (_shares(canary, side) for side in (before, after))
        changed = any(then[task] != now[task] for task in self.tasks)
        self.state: World = "changed" if changed else "same" if self.tasks else "unknown"

    def cause(self, agent: str, found: Difference, tasks: set[str]) -> Cause:
        """Say what a difference comes from; of tasks that it has not run it knows nothing."""
        if agent == self._canary:
            return "world" if self.state == "changed" else "nothing"
        if not _changed(found):
            return "nothing"
        if self.state == "changed":
            return "world"
        return "agent" if self.tasks and tasks <= self.tasks else "unknown"


def _shares(agent: str, runs: Iterable[RunMetrics]) -> dict[str, float]:
    """How many of an agent's runs passed, task by task."""
    found: dict[str, list[bool]] = {}
    for run in runs:
        if run.agent == agent:
            found.setdefault(run.task, []).append(run.passed)
    return {task: sum(passed) / len(passed) for task, passed in found.items()}


def _common(agent: str, before: Iterable[RunMetrics], after: Iterable[RunMetrics]) -> set[str]:
    return _shares(agent, before).keys() & _shares(agent, after).keys()


def _plain(run: RunMetrics) -> RunMetrics:
    """Name agent and task without the versions that a report tells apart."""
    task = run.task.partition(" (")[0]
    return run.model_copy(update={"agent": run.acting or run.agent, "task": task})


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
    return sum(run.crashed for run in map(_plain, runs) if run.agent == agent)


def file_of(store: Store, name: str) -> Path:
    """Give the file that holds a baseline; UsageError for a name that none can have."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot name a baseline.", "Use letters, digits, `.` and `-`.")
    return store.root / FOLDER / f"{name}.json"
