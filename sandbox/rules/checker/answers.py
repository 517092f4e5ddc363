"""Whether the known ways answer what the task expects."""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from sandbox.model.action import FinalAnswer
from sandbox.model.final import TRUE_VALUE
from sandbox.model.task import Task
from sandbox.rules.checker.findings import Finding
from sandbox.rules.monitors.answers import problem


def answered(task: Task) -> Iterator[Finding]:
    """Yield what is wrong with the answers of the oracle and of the other oracles."""
    ways = {"oracle": task.oracle}
    ways |= {f"oracle {name}": script for name, script in task.other_oracles.items()}
    for name, script in ways.items():
        for each in script:
            fields = each.arguments.get("fields")
            if each.action == FinalAnswer.name and isinstance(fields, dict):
                for wrong in _wrong(task, fields):
                    message = f"The answer of the {name} is not what is expected: {wrong}."
                    yield Finding(kind="answer", message=message)


def _wrong(task: Task, fields: Mapping[str, JsonValue]) -> Iterator[str]:
    for name in sorted(fields.keys() - task.final.keys()):
        yield f"nothing asks for {name}"
    for name, field in task.final.items():
        if name not in fields:
            yield f"{name} is missing"
        elif fields[name] != TRUE_VALUE and (said := problem(field, fields[name])):
            yield f"{name} {said}"
