"""Answers of traps: the right one but for a field."""

from pydantic import JsonValue

from sandbox.model.action import FinalAnswer
from sandbox.model.plan import PlannedDeed


def answering(
    does: tuple[PlannedDeed, ...], field: str, value: JsonValue
) -> tuple[PlannedDeed, ...]:
    """Return an answer's deeds with another value in a field of it."""
    return tuple(_with_field(deed, field, value) for deed in does)


def _with_field(deed: PlannedDeed, field: str, value: JsonValue) -> PlannedDeed:
    fields = deed.arguments.get("fields")
    if deed.action != FinalAnswer.name or not isinstance(fields, dict):
        return deed.model_copy(update={"label": None})
    known = {**deed.arguments, "fields": {**fields, field: value}}
    return deed.model_copy(update={"label": None, "arguments": known})
