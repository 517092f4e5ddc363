"""The facts that a deed of a world graph stands for: what a run of it is going to record."""

from collections.abc import Iterator

from pydantic import JsonValue

from sandbox.model.action import ACTIONS
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.covered_tests import runs_of
from sandbox.rules.monitors.paths_read import paths_read
from sandbox.rules.monitors.steps import Step

_FILE = 0o100644
"""What a graph changes stands there afterwards, an ordinary file."""
_SOME = ""
"""Its digest: a graph does not say what it holds, so it is none that a rule could name."""


def facts_of(step: Step, context: Context) -> Iterator[Step]:
    """Give what an action of a graph changes, tests and shows; commits a graph says itself."""
    edits = step.name in ACTIONS and ACTIONS[step.name].edits
    for path in step.changes:
        by = "action" if edits else "process"
        fields: dict[str, JsonValue] = {
            "path": path,
            "by": by,
            "as_at_start": False,
            "again": False,
            "during": [],
            "mode": _FILE,
            "digest": _SOME,
        }
        yield Step(0, "changed", fields, changes=(path,), kind="changed")
    exit_code = _exit_code(step)
    if exit_code is not None:
        for roots in runs_of(step, exit_code, context):
            told: dict[str, JsonValue] = {"paths": list(roots), "exit_code": exit_code}
            yield Step(0, "tested", {**told, "sound": True}, kind="tested")
    for path in paths_read(step, context):
        yield Step(0, "shown", {"path": path, "most": True}, kind="shown")


def _exit_code(step: Step) -> int | None:
    code = None if step.observation is None else step.observation.result.get("exit_code")
    return code if isinstance(code, int) and not isinstance(code, bool) else None
