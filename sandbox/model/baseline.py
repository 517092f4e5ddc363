"""A baseline: measured runs that were pinned under a name, and how later ones differ from them."""

from typing import Literal

from sandbox.model.base import Record
from sandbox.model.report import Difference, RunMetrics

SCHEMA_VERSION = 1


class Baseline(Record):
    """What `runs/baselines/NAME.json` holds. It stays when the runs are deleted."""

    schema_version: int = SCHEMA_VERSION
    name: str
    pinned: str
    """UTC, ISO 8601."""
    sandbox_version: str
    runs: tuple[RunMetrics, ...]


Cause = Literal["nothing", "agent", "world", "unknown"]
"""What has changed: `world` where the canary has, too; `unknown` where no canary says."""

World = Literal["same", "changed", "unknown"]


class Delta(Record):
    """One agent now against itself in the baseline."""

    agent: str
    difference: Difference
    """Now minus then."""
    changed: bool
    """Whether the difference can be told from chance."""
    cause: Cause
    then_crashed: int
    now_crashed: int


class Drift(Record):
    """What `sandbox compare --baseline` prints."""

    schema_version: int = SCHEMA_VERSION
    baseline: str
    canary: str
    """The agent that does not change; empty where neither side has runs of it."""
    world: World
    deltas: tuple[Delta, ...]
    other_tasks: tuple[str, ...]
    """Tasks that are others now, and are left out."""
    gone: tuple[str, ...]
    """Agents of the baseline without runs now."""
    new: tuple[str, ...]
