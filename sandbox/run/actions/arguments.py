"""A request into an action, or into what is wrong with it; and the fields of a final answer."""

import difflib
from collections.abc import Iterable, Mapping

from pydantic import JsonValue, ValidationError

from sandbox.model.action import ACTIONS, Action, Request
from sandbox.model.final import TYPES, FinalField
from sandbox.model.observation import ErrorCode, Observation
from sandbox.run.actions.outcome import refused

_PROBLEMS = 5


def understand(request: Request) -> Action | Observation:
    """Return the action with its arguments, which must be exact, or the refusal."""
    kind = ACTIONS.get(request.action)
    if kind is None:
        message = f"There is no action {request.action[:100]!r}; {_near(request.action, ACTIONS)}."
        return refused(ErrorCode.UNKNOWN_TOOL, message)
    try:
        return kind.model_validate(request.arguments)
    except ValidationError as error:
        problems = []
        for details in error.errors(include_url=False, include_input=False)[:_PROBLEMS]:
            where = ".".join(str(part)[:100] for part in details["loc"])
            problem = details["msg"]
            if details["type"] == "extra_forbidden":
                problem = f"unknown argument; {_near(where, kind.model_fields)}"
            problems.append(f"{where}: {problem}")
        return refused(ErrorCode.BAD_ARGUMENTS, f"{request.action}: {'; '.join(problems)}.")


def answer_problem(fields: Mapping[str, JsonValue], wanted: Mapping[str, FinalField]) -> str | None:
    """Say which fields are missing, unknown or of the wrong type; None where all is well.

    What values are expected is not said. Types are exact: true is no integer, 1.0 neither.
    """
    problems = [f"{name} is missing" for name in wanted if name not in fields]
    for name, value in fields.items():
        if name not in wanted:
            problems.append(f"{name[:100]} is unknown; {_near(name, wanted)}")
            continue
        kind = wanted[name].type
        if type(value) not in TYPES[kind]:
            problems.append(f"{name} must be a {kind}, not {_type_name(value)}")
    if not problems:
        return None
    return f"The final answer is not accepted, try again: {'; '.join(problems[:_PROBLEMS])}."


def _type_name(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "list"
        case _:
            return "object"


def _near(name: str, known: Iterable[str]) -> str:
    names = list(known)
    found = difflib.get_close_matches(name[:100], names, n=3)
    if found:
        return f"did you mean {' or '.join(found)}?"
    return f"known are {', '.join(names)}" if names else "none is known"
