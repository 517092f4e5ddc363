"""A script as one shell script that an agent in the container runs, with nothing but a shell."""

import json
import shlex
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from sandbox.agents.inside import SIDE_ACTIONS
from sandbox.model.action import FinalAnswer
from sandbox.model.rewording import Rewording
from sandbox.model.task import ScriptedAction, Task
from sandbox.run.rewordings.as_lines import line_of

NAME = "inside"
_ALL = Rewording(
    name=NAME, title="All by shell, inside.", turns=("reads", "looks", "tests", "edits")
)


def inside(script: Sequence[ScriptedAction], task: Task) -> str | None:
    """Give the shell script; None where some deed of it is none of a shell's."""
    lines = list(_lines(script, task))
    return None if None in lines else "\n".join(filter(None, lines))


def _lines(script: Sequence[ScriptedAction], task: Task) -> Iterator[str | None]:
    for deed in script:
        if deed.action in SIDE_ACTIONS:
            arguments = {name: value for name, value in deed.arguments.items() if value is not None}
            yield f"action {deed.action} {shlex.quote(json.dumps(arguments))}"
        elif deed.action == FinalAnswer.name:
            yield _answer(deed.arguments.get("fields"))
        else:
            line = line_of(deed, task, _ALL)
            yield None if line is None else f"(\n{line}\n)"


def _answer(fields: JsonValue) -> str:
    return f'printf %s {shlex.quote(json.dumps(fields))} > "$SANDBOX_ANSWER"'
