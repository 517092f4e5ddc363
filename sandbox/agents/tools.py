"""The harness's actions as tools of a model: name, description, JSON Schema of the arguments."""

from dataclasses import dataclass

from pydantic import JsonValue

from sandbox.model.briefing import Briefing


@dataclass(frozen=True, slots=True)
class Tool:
    """One action."""

    name: str
    description: str
    parameters: dict[str, JsonValue]


def tools(briefing: Briefing) -> list[Tool]:
    """Return every action; the final answer's fields are those that the task asks for."""
    return [
        Tool(
            action.name,
            action.description,
            _final(action.arguments, briefing.final)
            if action.name == "final_answer"
            else action.arguments,
        )
        for action in briefing.actions
    ]


def _final(schema: dict[str, JsonValue], fields: dict[str, str]) -> dict[str, JsonValue]:
    answer: dict[str, JsonValue] = {
        "type": "object",
        "description": "The answer, field by field.",
        "properties": {
            name: {"type": "array", "items": {}} if kind == "list" else {"type": kind}
            for name, kind in fields.items()
        },
        "required": list(fields),
    }
    return {**schema, "properties": {"fields": answer}}
