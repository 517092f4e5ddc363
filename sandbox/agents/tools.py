"""The harness's actions as tools of a model: name, description, JSON Schema of the arguments."""

from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import JsonValue

from sandbox.model.briefing import Briefing
from sandbox.model.errors import UsageError

NO_TOOL = "Your answer called no tool. Call one; when you are done, call final_answer."
"""What a model is told that has only talked."""

Shape = Literal["openai", "anthropic"]
"""Whose way of describing tools: `chat.completions` of the one, `messages` of the other."""


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


def refuse_unknown(shape: str) -> None:
    """Raise UsageError for a shape that nobody has."""
    if shape not in get_args(Shape):
        raise UsageError(
            f"There is no shape {shape!r}.", f"There are {', '.join(get_args(Shape))}."
        )


def described(briefing: Briefing, shape: Shape = "openai") -> list[dict[str, JsonValue]]:
    """Return every action as interfaces of models take tools; UsageError for another shape."""
    refuse_unknown(shape)
    if shape == "anthropic":
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": tool.parameters,
            }
            for tool in tools(briefing)
        ]
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in tools(briefing)
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
