"""Signs in the oracles: one sequence that fits most tasks, and answers that need no looking."""

import re
from collections import Counter
from collections.abc import Sequence

from pydantic import JsonValue

from sandbox.model.action import ApplyPatch, FinalAnswer
from sandbox.model.audit import Sign, Status
from sandbox.model.task import ScriptedAction, Task

MASKED = "masked"
NEUTRAL: dict[str, JsonValue] = {
    "string": MASKED,
    "integer": 0,
    "number": 0,
    "boolean": False,
    "list": [],
}
MANY = 3
"""Tasks below which no sequence can fit most of them."""


def sequence(task: Task) -> tuple[str, ...]:
    """Return the kinds of the oracle's actions in order, repeats in a row taken together."""
    kinds = [action.action for action in task.oracle]
    return tuple(kind for place, kind in enumerate(kinds) if not place or kinds[place - 1] != kind)


def sequences(tasks: Sequence[Task]) -> Sign:
    """Sign 5: the same sequence of kinds of actions solves most of the tasks."""
    counts = Counter(sequence(task) for task in tasks)
    most = max(counts.values(), default=0)
    status: Status = "unknown"
    if len(tasks) >= MANY:
        status = "warning" if most * 2 > len(tasks) else "clear"
    return Sign(
        name="sequence",
        question="Does one sequence of actions fit most tasks?",
        status=status,
        value=f"the most common sequence fits {most}/{len(tasks)} tasks",
        details=tuple(
            f"{number}: {' '.join(kinds)}" for kinds, number in counts.most_common() if number > 1
        ),
    )


def blind(task: Task) -> tuple[ScriptedAction, ...]:
    """Give the oracle as somebody would play it who knows the prompt and sees no reply.

    Lines of a patch that come from the file, and final values, are masked where the prompt does
    not hold them.
    """
    return tuple(_masked(action, task) for action in task.oracle)


def _masked(action: ScriptedAction, task: Task) -> ScriptedAction:
    arguments = dict(action.arguments)
    if action.action == ApplyPatch.name:
        rows = str(arguments.get("patch", "")).splitlines()
        arguments["patch"] = "\n".join(_row(row, task.prompt) for row in rows) + "\n"
    if action.action == FinalAnswer.name and isinstance(arguments.get("fields"), dict):
        fields: dict[str, JsonValue] = arguments["fields"]  # type: ignore[assignment]
        arguments["fields"] = {
            name: value if _stands_in(value, task.prompt) else _neutral(task, name)
            for name, value in fields.items()
        }
    return action.model_copy(update={"arguments": arguments})


def _row(row: str, prompt: str) -> str:
    """Mask a line that is the file's, not the patch's own."""
    of_the_file = row[:1] in (" ", "-") and not row.startswith("--- ")
    known = not row[1:].strip() or row[1:].strip() in prompt
    return row[0] + MASKED if of_the_file and not known else row


def _stands_in(value: JsonValue, prompt: str) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return re.search(rf"(?<![\w.]){re.escape(str(value))}(?![\w.]\w)", prompt) is not None
    if isinstance(value, str):
        return value in prompt
    return isinstance(value, list) and all(_stands_in(part, prompt) for part in value)


def _neutral(task: Task, name: str) -> JsonValue:
    return NEUTRAL[task.final[name].type] if name in task.final else MASKED
