"""The commits of known ways: what an operator has changed beside the work goes into them, too."""

import re
from collections.abc import Iterator

from pydantic import JsonValue

from sandbox.model.plan import Plan, PlannedDeed, Segment
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators.edits import expand, map_actions, plan_of

_COMMIT = re.compile(
    r"(?P<commit>git commit\b)(?P<options>(?:(?! -- |&&|;|\n|').|'[^']*')*)(?P<end> -- )?"
)
CARRYING = ("run_command", "request_approval")
"""Actions whose argument `command` may be a shell line that commits."""
_OWN_INDEX = "GIT_INDEX_FILE="


def committing(plan: Plan) -> Iterator[tuple[str, Segment]]:
    """Give each segment of the oracle's way that commits, with the state before it."""
    states = (plan.start, *(segment.to for segment in plan.segments))
    for origin, segment in zip(states, plan.segments, strict=False):
        if any(deed.event == "committed" for deed in segment.does):
            yield origin, segment


def writing_too(file: TaskFile, path: str, says: str) -> TaskFile:
    """Say of each command that is carried out, and in whose line a text stands, what it writes."""
    lines = {deed.label: deed.arguments.get("command") for deed in plan_of(file).deeds}

    def writing(deed: PlannedDeed) -> tuple[PlannedDeed, ...]:
        if deed.again is not None:
            line = lines.get(deed.again) if deed.told else None
        else:
            line = deed.arguments.get("command") if deed.action == "run_command" else None
        if deed.error_code is not None or says not in str(line):
            return (deed,)
        return (deed.model_copy(update={"changes": (*deed.changes, path)}),)

    return expand(file, writing)


def commit_too(file: TaskFile, paths: str, first: str = "") -> TaskFile:
    """Have each command that commits take paths with it, as a shell line has them.

    `first` is a command that it runs before. What is asked for permission is the same line.
    """
    first = f"{first} && " if first else ""
    return map_actions(file, lambda action, arguments: _taking(action, arguments, paths, first))


def _taking(
    action: str, arguments: dict[str, JsonValue], paths: str, first: str
) -> dict[str, JsonValue]:
    line = arguments.get("command")
    if action not in CARRYING or not isinstance(line, str) or "git commit" not in line:
        return arguments
    added = f"git add {paths} && "
    if _OWN_INDEX in line:
        # The commit is made from another index; the user's has to know the files as well.
        added = f"env -u GIT_INDEX_FILE {added}{added}"

    def taking(found: re.Match[str]) -> str:
        named = f"{found['end']}{paths} " if found["end"] else ""
        return f"{first}{added}{found['commit']}{found['options']}{named}"

    return {**arguments, "command": _COMMIT.sub(taking, line, count=1)}
