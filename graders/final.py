"""The final answer: each field that the prompt asks for, of its type and value."""

from collections.abc import Iterator

from pydantic import JsonValue

from graders.verdict import judged
from sandbox.model.grade import Evidence, Grade, Reason
from sandbox.model.task import FinalField, Task
from sandbox.rules.monitors.atoms import equal

NAME = "final"
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list,),
}


def grade(task: Task, evidence: Evidence) -> Grade:
    """Compare each field exactly; the run loop takes no answer with other fields."""
    return judged(NAME, _reasons(task, evidence.final), {"fields": len(task.final)})


def _reasons(task: Task, answer: dict[str, JsonValue] | None) -> Iterator[Reason]:
    if not task.final:
        return
    if answer is None:
        asked = ", ".join(task.final)
        yield Reason(message=f"There is no final answer; it has to hold {asked}")
        return
    for name, field in task.final.items():
        if name not in answer:
            yield Reason(message=f"The final answer has no {name}")
        elif problem := _problem(field, answer[name]):
            yield Reason(message=f"The final answer's {name} {problem}")


def _problem(field: FinalField, value: JsonValue) -> str:
    # A boolean is an integer to Python and not to JSON, hence the exact type.
    if type(value) not in TYPES[field.type]:
        return f"is {value!r}, which is no {field.type}"
    if field.expect is None:
        return ""
    # 3 and 3.0 are the same number; everywhere else the type counts too.
    same = value == field.expect if field.type == "number" else equal(value, field.expect)
    return "" if same else f"is {value!r}, not {field.expect!r}"
